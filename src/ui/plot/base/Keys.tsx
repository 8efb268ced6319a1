// Says what the lines of a chart are: a piece of each, and its name.
import { cssColor } from '../../scales/css_colors.ts'

export interface Key {
  readonly label: string
  /** A token such as '--series-1', or any CSS colour. */
  readonly color: string
  readonly width?: number
  readonly dash?: readonly number[]
  /** Its values are dots on the line. */
  readonly dots?: boolean
  /** They are dots alone. */
  readonly isDots?: boolean
}

/** A piece of a line, as the charts draw it. */
export function LineMark(key: Omit<Key, 'label'>) {
  const { color, width = 1.5, dash = [], dots = false, isDots = false } = key
  const places = isDots ? [5, 17] : dots ? [11] : []
  return (
    <svg className="line-mark" width="22" height="8" aria-hidden="true">
      {isDots ? null : (
        <line
          x1="1"
          x2="21"
          y1="4"
          y2="4"
          style={{ stroke: cssColor(color) }}
          strokeWidth={width + 0.5}
          strokeDasharray={dash.join(' ')}
        />
      )}
      {places.map((x) => (
        <circle key={x} cx={x} cy="4" r={width + 1} style={{ fill: cssColor(color) }} />
      ))}
    </svg>
  )
}

/** A legend whose lines cannot be hidden. */
export function Keys({ keys }: { readonly keys: readonly Key[] }) {
  return (
    <ul className="figure-keys">
      {keys.map(({ label, ...mark }) => (
        <li key={label}>
          <LineMark {...mark} />
          {label}
        </li>
      ))}
    </ul>
  )
}
