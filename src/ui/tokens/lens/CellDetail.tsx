// Draws one cell of the lens in full: its place, what it would say, and how likely the truth is.
import type { Lens } from '../../../host/protocol/observation.ts'
import { tokenWords } from '../../../host/protocol/token_text.ts'
import { theLayer } from '../../glossary/layer_names.ts'
import { formatNats, formatShare, NONE } from '../../kit/format.ts'
import { isProse, proseClass } from '../../part/prose.ts'
import { Token } from '../base/Token.tsx'
import { type LensCell, type LensKind, layersOf, lensCell, nextChange, points } from './lens.ts'

/** Tokens have no other identity than their place. */
const Tokens = ({ tokens, isRead }: { tokens: readonly string[]; isRead: boolean }) =>
  tokens.map((token, s) => <Token key={s} token={token} isRead={isRead} />)

function Top({ cell, title, testid }: { cell: LensCell; title: string; testid: string }) {
  return (
    <div className="lens-top">
      <h4>{title}</h4>
      <ol data-testid={testid}>
        {cell.top.map(({ token, prob }, k) => (
          <li key={k} className={token === cell.next?.token ? 'right' : ''}>
            <b role="img" aria-label={tokenWords(token)}>
              <Token token={token} />
            </b>
            <span className="lens-bar" aria-hidden="true">
              <span style={{ width: `${100 * prob}%` }} />
            </span>
            <span data-value={prob}>{formatShare(prob)}</span>
          </li>
        ))}
      </ol>
      <dl>
        <div>
          <dt>entropy</dt>
          <dd data-testid={`${testid}-entropy`} data-value={cell.entropy}>
            {formatNats(cell.entropy)}
          </dd>
        </div>
        <div>
          <dt>
            {cell.next ? (
              <>
                what follows: <Token token={cell.next.token} />
              </>
            ) : (
              'what follows'
            )}
          </dt>
          <dd data-testid={`${testid}-next`} data-value={cell.next?.prob}>
            {cell.next ? formatShare(cell.next.prob) : NONE}
          </dd>
        </div>
      </dl>
    </div>
  )
}

/** `before`: the same text at another step. */
export function CellDetail(props: {
  lens: Lens
  before: Lens | undefined
  kind: LensKind
  layer: number
  position: number
  step: number
  beforeStep: number | undefined
  /** Of the read-out; the step where there are several. */
  title?: string
}) {
  const { lens, before, kind, layer, position, step, beforeStep } = props
  const { title = `Step ${step}` } = props
  const cell = lensCell(lens, kind, layer, position)
  if (!cell) return null
  const other = before && lensCell(before, kind, layer, position)
  const change = nextChange(cell, other)
  const last = layersOf(lens) - 1
  const whole = lens.tokens.join('')
  return (
    <div
      className="lens-detail"
      role="group"
      aria-label="The selected cell"
      data-testid="lens-detail"
    >
      <div>
        <h3>
          What {theLayer(layer, last)} says at position {position + 1} of {lens.tokens.length}
        </h3>
        <p className={`response lens-read ${proseClass(whole)}`}>
          <Tokens tokens={lens.tokens.slice(0, position + 1)} isRead={isProse(whole)} />
          <span className="lens-caret" aria-hidden="true" />
          <span className="soft">
            <Tokens tokens={lens.tokens.slice(position + 1)} isRead={isProse(whole)} />
          </span>
        </p>
        {kind === 'normed' && layer === 0 ? (
          <p className="soft">Grey: the final norm amplifies the tiny state of the embedding.</p>
        ) : null}
        {change !== undefined && beforeStep !== undefined ? (
          <p data-testid="lens-change" data-value={change}>
            From step {beforeStep} to step {step} the token that follows changed by{' '}
            <b>{points(change)}</b> points.
          </p>
        ) : null}
      </div>
      <Top cell={cell} title={title} testid="lens-top" />
      {other ? <Top cell={other} title={`Step ${beforeStep}`} testid="lens-top-other" /> : null}
    </div>
  )
}
