// Draws the frame of a figure whose numbers are not those of the shown run: title, menu with full
// screen and files, and its numbers as a table.
import { type ReactNode, useId, useState } from 'react'
import { Words } from '../../glossary/Words.tsx'
import type { Key } from '../base/Keys.tsx'
import { FullScreen, LeaveButton } from '../ChartCard.tsx'
import { figureMakers } from '../files/figure_files.ts'
import { NumbersTable } from '../files/NumbersTable.tsx'
import type { NumberTable } from '../files/number_table.ts'
import { type Owner, SaveAs } from '../files/SaveAs.tsx'
import { FullScreenChoice, Menu } from '../Menu.tsx'
import './still.css'

export interface StillFigureProps {
  readonly id: string
  readonly title: string
  /** What it shows and how it misleads. */
  readonly note?: string | undefined
  readonly owner: Owner
  /** What its lines are, where the figure itself does not say it: for its pictures. */
  readonly keys?: readonly Key[] | undefined
  /** The numbers; of a long line at most `most`, where given. */
  readonly table: (most?: number) => NumberTable
  /** `id`: another one in full screen. */
  readonly children: (id: string) => ReactNode
}

/** Rows of a line that the page shows; files have all. */
const MOST_ROWS = 50

interface FigureProps extends StillFigureProps {
  readonly isFull: boolean
  readonly onFull?: () => void
}

function Figure(props: FigureProps) {
  const { id, title, note, owner, keys, table, isFull, onFull } = props
  const ownId = isFull ? `${id}-full` : id
  const titleId = useId()
  return (
    <figure className="still-figure" aria-labelledby={titleId} data-testid={ownId}>
      <figcaption>
        <h3 id={titleId}>
          <Words text={title} />
        </h3>
        <span className="chart-side">
          <Menu id={ownId} label={`Full screen and files of “${title}”`}>
            {(close) => (
              <>
                <FullScreenChoice id={ownId} isFull={isFull} onFull={onFull} close={close} />
                <SaveAs
                  id={ownId}
                  what={title}
                  file={id}
                  owner={owner}
                  make={figureMakers({ title, table: () => table(), owner, keys })}
                  onSave={close}
                />
              </>
            )}
          </Menu>
          {isFull ? <LeaveButton /> : null}
        </span>
        {note === undefined ? null : (
          <p className="soft">
            <Words text={note} />
          </p>
        )}
      </figcaption>
      {props.children(ownId)}
      <NumbersTable id={`${ownId}-numbers`} title={title} table={() => table(MOST_ROWS)} />
    </figure>
  )
}

export function StillFigure(props: StillFigureProps) {
  const [isFull, setFull] = useState(false)
  return (
    <>
      <Figure {...props} isFull={false} onFull={() => setFull(true)} />
      {isFull ? (
        <FullScreen title={props.title} className="full-figure" onClose={() => setFull(false)}>
          <Figure {...props} isFull />
        </FullScreen>
      ) : null}
    </>
  )
}
