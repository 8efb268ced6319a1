// Draws a program's text, which can be written here, chosen as a file, or dropped onto the page:
// for parts of a reward and for tools.
import { useState } from 'react'
import { programText } from '../../../page/contents/kept_programs.ts'
import type { LabState } from '../../../page/state/store.ts'
import { useLab } from '../../shown/run.ts'

const selectExperiment = ({ experiment }: LabState) => experiment

interface EditorProps {
  readonly start: string
  readonly name: string
  readonly action: string
  /** Rejects with the reason where the text cannot be used. */
  onUse(text: string, name: string): Promise<void>
}

/** A text and the button that uses it. */
function Editor({ start, name, action, onUse }: EditorProps) {
  const [text, setText] = useState(start)
  const [problem, setProblem] = useState<string>()
  const use = () => onUse(text, name).catch(({ message }: Error) => setProblem(message))
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

/** A program that the experiment names, to read and to change. */
export function ProgramEditor(props: {
  readonly code: string
  readonly name: string
  onUse(text: string, name: string): Promise<void>
}) {
  const { code, name, onUse } = props
  const text = programText(useLab(selectExperiment), code)
  if (text === undefined) return <p className="soft">Its file is not here yet.</p>
  return <Editor key={code} {...{ start: text, name, action: 'Use the changed text', onUse }} />
}

type Language = 'js' | 'py'

/** What an empty editor begins with in each language, and what is said of the program. */
export type ProgramStarts = Readonly<
  Record<Language, { readonly text: string; readonly help: string }>
>

/** A program that is not part of the experiment yet. */
export function NewProgram(props: {
  /** The name of its file without the ending: reward, tool. */
  readonly stem: string
  readonly starts: ProgramStarts
  onUse(text: string, name: string): Promise<void>
  onCancel(): void
}) {
  const { stem, starts, onUse, onCancel } = props
  const [language, setLanguage] = useState<Language>('js')
  const [problem, setProblem] = useState<string>()
  return (
    <div className="reward-part">
      <div className="reward-part-head">
        <h3>A program</h3>
        <label>
          language{' '}
          <select
            value={language}
            data-testid="program-language"
            onChange={({ target }) => setLanguage(target.value as Language)}
          >
            <option value="js">JavaScript</option>
            <option value="py">Python</option>
          </select>
        </label>
        <input
          type="file"
          accept=".js,.mjs,.py"
          aria-label="A file with a program"
          data-testid="program-file"
          onChange={async ({ target }) => {
            const [file] = target.files ?? []
            if (!file) return
            const used = onUse(await file.text(), file.name)
            used.catch(({ message }: Error) => setProblem(message))
          }}
        />
        <button type="button" className="plain" onClick={onCancel}>
          Cancel
        </button>
      </div>
      <p className="soft help" data-testid="program-help">
        {starts[language].help}
      </p>
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Editor
        key={language}
        {...{ start: starts[language].text, name: `${stem}.${language}`, onUse }}
        action="Use this program"
      />
    </div>
  )
}
