// Draws the frame of a figure: title, what it shows and how it misleads, which step, what it costs,
// and its numbers as a table.
import { Maximize2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Note } from '../../glossary/Note.tsx'
import { Words } from '../../glossary/Words.tsx'
import { t } from '../../kit/translator.ts'
import { Fold, firstSentence, type Opens } from '../../part/Fold.tsx'
import { FullScreen, LeaveButton } from '../../plot/ChartCard.tsx'
import { reads, tokensOf } from '../../plot/reads.ts'
import type { FigureState } from './use_figure.ts'

export interface FigureProps {
  readonly id: string
  readonly title: string
  /** How it reads the layers; undefined where it reads none. */
  readonly how?: string
  /** Whose tokens it is of, where no observation says it. */
  readonly whose?: string
  /** What it shows and how it misleads. */
  readonly note: string
  readonly state: FigureState
  /** What it shows of this run, in a sentence. */
  readonly says: ReactNode | undefined
  /** Choices that the figure offers. */
  readonly controls?: ReactNode
  readonly opens?: Opens
  readonly children: ReactNode
}

/** A fold. What is folded away or out of view is not measured. */
export function Figure(props: FigureProps) {
  const { id, title, note, state, says, opens } = props
  const { ref, seen } = state
  // Height of the place that it leaves while it fills the screen, so that the page behind stays
  // where it is.
  const [leftHeight, setLeftHeight] = useState<number>()
  const leave = () => setLeftHeight(undefined)
  return (
    <Fold
      id={id}
      title={title}
      about={says ?? firstSentence(t(note))}
      step={seen?.step}
      opens={opens}
    >
      <div ref={ref} className="figure-place" style={{ minHeight: leftHeight }}>
        {leftHeight === undefined ? (
          <Body {...props} onFull={() => setLeftHeight(ref.current?.offsetHeight ?? 0)} />
        ) : (
          <FullScreen title={title} className="full-figure" onClose={leave}>
            <div className="full-head">
              <h2>{title}</h2>
              <LeaveButton />
            </div>
            <Body {...props} />
          </FullScreen>
        )}
      </div>
    </Fold>
  )
}

function Body(props: FigureProps & { readonly onFull?: () => void }) {
  const { id, title, how, note, says, controls, children, onFull } = props
  const { words, count, isEmpty, isOther, awaits, cost, seen } = props.state
  const whose = props.whose ?? tokensOf(seen?.item.rows)
  return (
    <div className="figure-body">
      {how === undefined ? null : (
        <p className="soft" data-testid={`${id}-reads`}>
          <Words text={reads(how, whose)} />
        </p>
      )}
      {isOther ? (
        <p className="soft" data-testid={`${id}-other`}>
          Another measurement than the run’s own: a look at a kept state has no batch, so it reads
          right answers. Their numbers are not those of the curves.
        </p>
      ) : null}
      {says === undefined ? null : (
        <p className="figure-says" data-testid={`${id}-says`}>
          {says}
        </p>
      )}
      <Note text={note} />
      <div className="figure-head">
        <p
          className={isEmpty ? 'figure-step is-empty' : 'figure-step'}
          data-awaited={(isEmpty && awaits) || undefined}
          title={cost && `Measuring it took ${cost}`}
          data-testid={`${id}-step`}
        >
          {words}
          {count === undefined ? null : <span className="soft"> {count}</span>}
        </p>
        {controls}
        {isEmpty || !onFull ? null : (
          <button
            type="button"
            className="plain"
            data-testid={`${id}-full-screen`}
            aria-label={`“${title}” in full screen`}
            title="Full screen"
            onClick={onFull}
          >
            <Maximize2 className="icon" aria-hidden="true" />
          </button>
        )}
      </div>
      {children}
    </div>
  )
}
