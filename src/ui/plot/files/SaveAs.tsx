// Draws buttons that save a chart or a figure: its numbers, or a picture of it.

import { saveFile } from '../../kit/save.ts'
import { TYPES } from '../../open/files.ts'
import { shownRunStem } from '../../open/shown_run.ts'
import { showToast } from '../../shown/store.ts'

const KINDS = ['csv', 'jsonl', 'png', 'svg'] as const
type Kind = (typeof KINDS)[number]

/** What each file holds, made when it is saved; undefined where there is nothing to draw. `button`
 * is the one that was pressed. */
export type Makers = Readonly<
  Record<'csv' | 'jsonl', () => string> &
    Record<'png' | 'svg', (button: HTMLElement) => Blob | Promise<Blob> | undefined>
>

/** Whose numbers a figure shows. */
export interface Owner {
  readonly words: string
  /** Its files begin with it. */
  readonly stem: string
}

interface Props {
  readonly id: string
  /** What is saved, in words. */
  readonly what: string
  /** Its files are called so, behind the owner's name. */
  readonly file: string
  /** Of the run that the page shows, where not given. */
  readonly owner?: Owner | undefined
  readonly make: Makers
  /** Called when a button was pressed. */
  readonly onSave?: () => void
}

async function save(kind: Kind, { file, owner, make }: Props, button: HTMLElement): Promise<void> {
  try {
    const blob =
      kind === 'csv' || kind === 'jsonl'
        ? new Blob([make[kind]()], { type: TYPES[kind] })
        : await make[kind](button)
    const stem = owner?.stem ?? shownRunStem()
    if (blob) saveFile(`${stem}.${file}.${kind}`, blob)
  } catch (error) {
    showToast(`The file was not saved: ${error instanceof Error ? error.message : error}.`)
  }
}

const SAYS: Readonly<Record<Kind, string>> = {
  csv: 'The numbers shown as a table, smoothed values beside measured ones',
  jsonl: 'The numbers shown, one line per row',
  png: 'A picture in pixels',
  svg: 'A picture in lines, for papers and slides',
}

export function SaveAs(props: Props) {
  return (
    <div className="chart-files" role="group" aria-label={`Save “${props.what}” as`}>
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          data-testid={`${props.id}-${kind}`}
          title={SAYS[kind]}
          onClick={(event) => {
            void save(kind, props, event.currentTarget)
            props.onSave?.()
          }}
        >
          {kind.toUpperCase()}
        </button>
      ))}
    </div>
  )
}
