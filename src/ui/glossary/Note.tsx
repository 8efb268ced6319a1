// Shows what a figure shows in a sentence; how it misleads is behind it.
import { t } from '../kit/translator.ts'
import { firstSentence } from '../part/Fold.tsx'
import { Words } from './Words.tsx'

interface NoteProps {
  /** What it shows, then in further sentences what to mind. */
  readonly text: string
}

export function Note({ text }: NoteProps) {
  const all = t(text)
  const first = firstSentence(all)
  const rest = all.slice(first.length).trim()
  return (
    <div className="soft note">
      <p>
        <Words text={first} />
      </p>
      {rest === '' ? null : (
        <details>
          <summary>What to mind</summary>
          <p>
            <Words text={rest} />
          </p>
        </details>
      )}
    </div>
  )
}
