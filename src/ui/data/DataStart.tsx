// Shows what a file may look like, before there is one.
import { exampleFile } from './example.ts'

const KINDS: readonly { readonly name: string; readonly says: string; readonly text: string }[] = [
  {
    name: 'JSON lines, JSON',
    says: 'a prompt and the right answer',
    text: '{"question": "12+7=", "answer": "19"}\n{"question": "30+4=", "answer": "34"}',
  },
  {
    name: 'CSV, Parquet',
    says: 'the same in columns of any name',
    text: 'question,answer\n12+7=,19\n30+4=,34',
  },
  {
    name: 'Plain text',
    says: 'to continue',
    text: 'Under the canopy it is dim.\nWhat grows there grows slowly.',
  },
]

export function DataStart({ onFile }: { onFile: (file: File) => void }) {
  return (
    <>
      <ul className="data-kinds">
        {KINDS.map(({ name, says, text }) => (
          <li key={name}>
            <h3>{name}</h3>
            <p className="soft">{says}</p>
            <pre>{text}</pre>
          </li>
        ))}
      </ul>
      <p className="data-start">
        <button type="button" data-testid="data-example" onClick={() => onFile(exampleFile())}>
          Open an example
        </button>
        <span className="soft">400 rows: which of four digits is the largest?</span>
      </p>
    </>
  )
}
