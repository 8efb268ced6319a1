// A part that is a program: its text, which can be written here, chosen as a file, or dropped onto the page.
import { useState } from 'react'
import { type PartChoice, programPart, programText } from '../../../lab/page/reward_trial.ts'
import type { LabState } from '../../../lab/page/store.ts'
import { useLab } from '../../base/run.ts'

const selectExperiment = ({ experiment }: LabState) => experiment

/** What an empty editor begins with, by the ending of the file. */
const STARTS = {
  'reward.js': `function compute_score(data_source, solution_str, ground_truth, extra_info) {
  return solution_str === ground_truth ? 1 : 0
}
`,
  'reward.py': `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    return 1.0 if solution_str == ground_truth else 0.0
`,
} as const

interface EditorProps {
  readonly start: string
  readonly name: string
  readonly action: string
  onUse(part: PartChoice): void
}

/** A text and the button that makes a part of it. */
function Editor({ start, name, action, onUse }: EditorProps) {
  const [text, setText] = useState(start)
  const [problem, setProblem] = useState<string>()
  const use = () => programPart(text, name).then(onUse, ({ message }: Error) => setProblem(message))
  return (
    <>
      <textarea
        className="program"
        aria-label={`Text of ${name}`}
        data-testid="program-text"
        rows={8}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="button" data-testid="program-use" onClick={use}>
        {action}
      </button>
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

/** The program of a part, to read and to change. */
export function ProgramPart(props: {
  readonly part: PartChoice
  onChange(part: PartChoice): void
}) {
  const { part, onChange } = props
  const text = programText(useLab(selectExperiment), `${part.code}`)
  if (text === undefined) return <p className="soft">Its file is not here yet.</p>
  return (
    <Editor
      key={`${part.code}`}
      {...{ start: text, name: `${part.name}`, action: 'Use the changed text' }}
      onUse={({ code, name }) => onChange({ ...part, code, name })}
    />
  )
}

/** A program that is not a part yet; `onDone` without one when a person thinks better of it. */
export function NewProgram({ onDone }: { onDone: (part?: PartChoice) => void }) {
  const [name, setName] = useState<keyof typeof STARTS>('reward.js')
  return (
    <div className="reward-part">
      <div className="reward-part-head">
        <h3>A program</h3>
        <label>
          language{' '}
          <select
            value={name}
            data-testid="program-language"
            onChange={({ target }) => setName(target.value as keyof typeof STARTS)}
          >
            <option value="reward.js">JavaScript</option>
            <option value="reward.py">Python</option>
          </select>
        </label>
        <input
          type="file"
          accept=".js,.mjs,.py"
          aria-label="A file with a program"
          data-testid="program-file"
          onChange={async ({ target }) => {
            const [file] = target.files ?? []
            if (file) onDone(await programPart(await file.text(), file.name))
          }}
        />
        <button type="button" className="plain" onClick={() => onDone()}>
          Cancel
        </button>
      </div>
      <p className="soft help">
        It runs apart from this page: without network, storage or GPU, and with a time limit. The
        same file works in verl.
      </p>
      <Editor
        key={name}
        {...{ start: STARTS[name], name, action: 'Use this program' }}
        onUse={onDone}
      />
    </div>
  )
}
