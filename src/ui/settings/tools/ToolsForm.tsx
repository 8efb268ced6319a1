// Chooses the tools that a policy may call, adds programs to them, and tries them before anything
// is trained.
import '../rewards/rewards.css'
import { X } from 'lucide-react'
import { useState } from 'react'
import { editField } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import {
  BUILT_IN,
  programTool,
  type ShownTool,
  shownTools,
  type ToolChoice,
  type TriedCall,
  tryTool,
} from '../../../page/trials/tool_trial.ts'
import { Words } from '../../glossary/Words.tsx'
import { closeDialog } from '../../open/dialogs.ts'
import { useLab } from '../../shown/run.ts'
import { NewProgram, ProgramEditor, type ProgramStarts } from '../rewards/Program.tsx'

const selectExperiment = ({ experiment }: LabState) => experiment

const HELP =
  'It runs apart from this page, with the same limits as a reward program: no network, no storage, no GPU, and a deadline for every call. It returns a text.'

const STARTS: ProgramStarts = {
  js: {
    help: HELP,
    text: `export const tool_schema = {
  "type": "function",
  "function": {
    "name": "power",
    "description": "Works out a power of two whole numbers.",
    "parameters": {
      "type": "object",
      "properties": {"of": {"type": "string", "description": "Base and exponent, e.g. 2,10"}},
      "required": ["of"]
    }
  }
}

export function execute({ of }) {
  const [base, exponent] = of.split(',').map(Number)
  return String(base ** exponent)
}
`,
  },
  py: {
    help: HELP,
    text: `tool_schema = {
    "type": "function",
    "function": {
        "name": "power",
        "description": "Works out a power of two whole numbers.",
        "parameters": {
            "type": "object",
            "properties": {"of": {"type": "string", "description": "Base and exponent, e.g. 2,10"}},
            "required": ["of"]
        }
    }
}


def execute(parameters):
    base, exponent = (int(part) for part in parameters["of"].split(","))
    return str(base**exponent)
`,
  },
}

/** Calls a tool by hand and shows what the model would read. */
function ToolTrial({ tool, place }: { readonly tool: ShownTool; readonly place: number }) {
  const experiment = useLab(selectExperiment)
  const [text, setText] = useState(tool.example)
  const [said, setSaid] = useState<TriedCall>()
  const call = () => {
    setSaid({ text: '…', printed: '' })
    tryTool(experiment, place, text).then(setSaid, ({ message }: Error) =>
      setSaid({ text: message, printed: '' }),
    )
  }
  return (
    <div className="reward-add">
      <label>
        Arguments{' '}
        <input
          type="text"
          value={text}
          data-testid={`tool-arguments-${place}`}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="button" data-testid={`tool-call-${place}`} onClick={call}>
        Call it
      </button>
      {said === undefined ? null : (
        <output className="response" data-testid={`tool-said-${place}`}>
          {said.text}
        </output>
      )}
      {said?.printed ? <pre data-testid={`tool-printed-${place}`}>{said.printed}</pre> : null}
    </div>
  )
}

interface ToolProps {
  readonly choice: ToolChoice
  readonly tool: ShownTool
  readonly place: number
  onChange(choice: ToolChoice): void
  onRemove(): void
}

/** One tool of the experiment. */
function ChosenTool({ choice, tool, place, onChange, onRemove }: ToolProps) {
  const { code, name } = choice
  return (
    <li className="reward-part" data-testid={`tool-${place}`}>
      <div className="reward-part-head">
        <h3>{name === undefined ? tool.name : `${tool.name}, from ${name}`}</h3>
        <span className="soft">
          where a character is a token: <code>{tool.call}</code>
        </span>
        <button
          type="button"
          className="plain"
          aria-label={`Remove ${tool.name}`}
          onClick={onRemove}
        >
          <X className="icon" aria-hidden="true" />
        </button>
      </div>
      <p className="soft help">{tool.description}</p>
      {code === undefined ? null : (
        <ProgramEditor
          {...{ code, name: `${name}` }}
          onUse={async (text, file) => onChange(await programTool(text, file))}
        />
      )}
      <ToolTrial key={tool.example} {...{ tool, place }} />
    </li>
  )
}

/** What the tools are, or why they cannot be used. */
function shownOf(experiment: LabState['experiment']) {
  try {
    return { shown: shownTools(experiment), why: undefined }
  } catch (error) {
    return { shown: [], why: error instanceof Error ? error.message : String(error) }
  }
}

export function ToolsForm() {
  const experiment = useLab(selectExperiment)
  const [problem, setProblem] = useState<string>()
  const [isWriting, setIsWriting] = useState(false)
  const { tools, rollout } = experiment
  const { shown, why } = shownOf(experiment)
  const set = (next: readonly ToolChoice[]) => setProblem(editField('tools', next))
  const others = BUILT_IN.filter(({ name }) => tools.every(({ id }) => id !== name))
  const said = problem ?? why
  return (
    <div className="reward-form">
      <div className="reward-head">
        <h2>Tools</h2>
        <button type="button" data-testid="tools-close" onClick={() => closeDialog('tools')}>
          Done
        </button>
      </div>
      <p className="soft">
        <Words text="A policy that may write several times in one response can call a tool and read its answer." />
      </p>
      {tools.length > 0 && (rollout.max_turns ?? 1) === 1 ? (
        <p data-testid="tools-unused">
          The policy writes once, so it calls no tool.{' '}
          <button
            type="button"
            data-testid="tools-turns"
            onClick={() => setProblem(editField('rollout.max_turns', 2))}
          >
            Allow two turns
          </button>
        </p>
      ) : null}
      <ol className="reward-parts">
        {shown.map((tool, place) => (
          <ChosenTool
            key={`${tool.name} ${tools[place].code ?? ''}`}
            {...{ choice: tools[place], tool, place }}
            onChange={(changed) => set(tools.with(place, changed))}
            onRemove={() => set(tools.toSpliced(place, 1))}
          />
        ))}
      </ol>
      {said === undefined ? null : (
        <p className="problem" role="alert" data-testid="tools-refused">
          {said}
        </p>
      )}
      {isWriting ? (
        <NewProgram
          {...{ stem: 'tool', starts: STARTS }}
          onUse={async (text, name) => {
            const tool = await programTool(text, name)
            setIsWriting(false)
            set([...tools, tool])
          }}
          onCancel={() => setIsWriting(false)}
        />
      ) : (
        <div className="reward-add">
          {others.map(({ name }) => (
            <button key={name} type="button" onClick={() => set([...tools, { id: name }])}>
              Add “{name}”
            </button>
          ))}
          <button type="button" data-testid="tool-write" onClick={() => setIsWriting(true)}>
            Add a program …
          </button>
        </div>
      )}
    </div>
  )
}
