// Draws one text, every layer: rows are layers, columns positions, cells what the layer would say
// next.
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type SyntheticEvent,
  useEffect,
  useRef,
} from 'react'
import type { Lens } from '../../../host/protocol/observation.ts'
import { tokenWords } from '../../../host/protocol/token_text.ts'
import { shortLayerName } from '../../glossary/layer_names.ts'
import { shadeOf } from '../../scales/shades.ts'
import { type TokenLook, useTokenLook } from '../base/Token.tsx'
import {
  cellWords,
  type LensKind,
  layersOf,
  lensCell,
  nextChange,
  percent,
  points,
} from './lens.ts'

export interface CellPlace {
  readonly layer: number
  readonly position: number
}

/** What the cells are compared with, and the change that has the strongest colour. */
export interface Against {
  readonly lens: Lens
  readonly largest: number
}

interface CellProps extends CellPlace {
  /** Of the vocabulary, nats: the dark end of the shades. */
  readonly max_entropy: number
  readonly lens: Lens
  readonly kind: LensKind
  readonly against: Against | undefined
  readonly isHere: boolean
  readonly look: (token: string) => TokenLook
}

/** The colour of a cell: the entropy, or the change of the next token's probability. */
function cellClass({ max_entropy, lens, kind, against, layer, position }: CellProps): string {
  // The norm makes much of a tiny vector: no colour that could be compared.
  if (kind === 'normed' && layer === 0) return 'greyed'
  const cell = lensCell(lens, kind, layer, position)
  if (!against) {
    const shade = shadeOf((cell?.entropy ?? Number.NaN) / max_entropy)
    return shade === undefined ? '' : `seq-${shade}`
  }
  const change = nextChange(cell, lensCell(against.lens, kind, layer, position))
  const shade = shadeOf(((change ?? Number.NaN) / (against.largest || 1) + 1) / 2)
  return shade === undefined ? '' : `div-${shade}`
}

const Cell = memo(function Cell(props: CellProps) {
  const { lens, kind, against, layer, position, isHere, look } = props
  const cell = lensCell(lens, kind, layer, position)
  if (!cell) return <td />
  const [best] = cell.top
  const seen = best && look(best.token)
  const change = against && nextChange(cell, lensCell(against.lens, kind, layer, position))
  const number = against
    ? change === undefined
      ? '–'
      : points(change)
    : best
      ? percent(best.prob)
      : '–'
  const words = cellWords(cell, tokenWords)
  return (
    <td
      data-cell={`${layer}/${position}`}
      tabIndex={isHere ? 0 : -1}
      aria-label={change === undefined ? words : `${words}, change ${points(change)} points`}
      className={`${cellClass(props)} ${cell.is_right ? 'right' : ''} ${isHere ? 'here' : ''}`}
    >
      <b className={seen?.className} title={seen?.title}>
        {seen?.sign ?? '–'}
      </b>
      <small>{number}</small>
    </td>
  )
})

const MOVES: Readonly<Record<string, readonly [layers: number, positions: number]>> = {
  ArrowUp: [1, 0],
  ArrowDown: [-1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
  PageUp: [Number.POSITIVE_INFINITY, 0],
  PageDown: [Number.NEGATIVE_INFINITY, 0],
}

const within = (value: number, length: number) => Math.max(0, Math.min(length - 1, value))

function placeUnder({ target }: SyntheticEvent): CellPlace | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-cell]') : null
  const [layer, position] = (cell?.dataset.cell ?? '').split('/').map(Number)
  return cell ? { layer, position } : undefined
}

const Seen = ({ look: { sign, className, title } }: { look: TokenLook }) => (
  <span className={className} title={title}>
    {sign}
  </span>
)

function Head({ lens, look }: { lens: Lens; look: (token: string) => TokenLook }) {
  const { tokens, prompt_length } = lens
  const side = (s: number) => (s < prompt_length ? 'of-prompt' : 'of-response')
  return (
    <thead>
      <tr>
        <th scope="row">read</th>
        {tokens.map((token, s) => (
          <th key={s} scope="col" className={side(s)} aria-label={`after ${tokenWords(token)}`}>
            <Seen look={look(token)} />
          </th>
        ))}
      </tr>
      <tr className="follows">
        <th scope="row">then comes</th>
        {tokens.map((_, s) => (
          <td key={s} className={side(s + 1)}>
            {s + 1 < tokens.length ? <Seen look={look(tokens[s + 1])} /> : null}
          </td>
        ))}
      </tr>
    </thead>
  )
}

interface LensGridProps {
  readonly lens: Lens
  readonly kind: LensKind
  readonly against: Against | undefined
  readonly caption: string
  /** The page says the caption right above it. */
  readonly isNamed?: boolean
  readonly here: CellPlace
  /** Of the vocabulary, nats: the dark end of the shades. */
  readonly max_entropy: number
  readonly testid: string
  readonly onPlace: (place: CellPlace) => void
  readonly onHover: (place: CellPlace | undefined) => void
}

/** What keys and the pointer do in the table. Arrow keys go from cell to cell. */
function useGrid({ lens, here, onPlace, onHover }: LensGridProps) {
  const table = useRef<HTMLTableElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES[event.key]
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const to = {
      layer: within(here.layer + move[0], layersOf(lens)),
      position: within(here.position + move[1], lens.tokens.length),
    }
    onHover(undefined)
    onPlace(to)
    table.current?.querySelector<HTMLElement>(`[data-cell="${to.layer}/${to.position}"]`)?.focus()
  }
  const onPointerMove = (event: PointerEvent) => {
    // What scrolls under a pointer at rest is not pointed at.
    if (event.movementX !== 0 || event.movementY !== 0) onHover(placeUnder(event))
  }
  const onChoose = (event: SyntheticEvent) => {
    const place = placeUnder(event)
    if (place) onPlace(place)
  }
  const onPointerLeave = () => onHover(undefined)
  // Of a long text the chosen place is what a person came for.
  const { tokens } = lens
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text begins where its own place is.
  useEffect(() => {
    const scroll = table.current?.parentElement
    const cell = table.current?.querySelector<HTMLElement>('.here')
    if (scroll && cell) scroll.scrollLeft = cell.offsetLeft - scroll.clientWidth / 2
  }, [tokens.join()])
  const handlers = {
    onKeyDown,
    onFocus: onChoose,
    onClick: onChoose,
    onPointerMove,
    onPointerLeave,
  }
  return { table, handlers }
}

/** The final policy is the top row, as in the entropy map. */
export function LensGrid(props: LensGridProps) {
  const { lens, kind, against, caption, isNamed, here, max_entropy, testid } = props
  const { table, handlers } = useGrid(props)
  const look = useTokenLook()
  const layers = layersOf(lens)
  const { tokens } = lens
  return (
    <div className="lens-box">
      {/* Outside of what scrolls sideways, or its beginning would go. */}
      {isNamed ? null : (
        <p className="lens-caption" aria-hidden="true">
          {caption}
        </p>
      )}
      <div className="lens-scroll">
        <table
          ref={table}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid, whose cells are reached by arrow keys.
          role="grid"
          className="lens-grid"
          data-testid={testid}
          {...handlers}
        >
          <caption className="visually-hidden">{caption}</caption>
          <Head lens={lens} look={look} />
          <tbody>
            {Array.from({ length: layers }, (_, i) => layers - 1 - i).map((layer) => (
              <tr key={layer} data-layer={layer}>
                <th scope="row">{shortLayerName(layer, layers - 1)}</th>
                {tokens.map((_, position) => (
                  <Cell
                    key={position}
                    {...{ max_entropy, lens, kind, against, layer, position, look }}
                    isHere={layer === here.layer && position === here.position}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
