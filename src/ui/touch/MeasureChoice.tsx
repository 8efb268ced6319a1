// Asks which cost of a change a map shows, and writes a cell of it.
import type { Cell } from '../plot/still/CellMap.tsx'
import { estimateText, isTold, type Measure, type Reading } from './words/part_words.ts'

export function MeasureChoice(props: {
  readonly id: string
  readonly label: string
  readonly measures: readonly Pick<Measure, 'key' | 'label'>[]
  readonly value: string
  readonly onChange: (key: string) => void
}) {
  const { id, label, measures, value, onChange } = props
  return (
    <label>
      <span className="soft">{label}</span>{' '}
      <select data-testid={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {measures.map((one) => (
          <option key={one.key} value={one.key}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The largest change, which a map's scale ends at. */
export const largestOf = <C extends Reading>(costs: readonly C[], measure: Measure<C>): number =>
  Math.max(1e-9, ...costs.map((cost) => Math.abs(measure.of(cost)?.mean ?? 0)))

/** In brackets what the problems cannot tell from none. */
export function costCell<C extends Reading>(cost: C, measure: Measure<C>, largest: number): Cell {
  const found = measure.of(cost)
  if (!found) return { text: '', tone: 'empty', share: 0 }
  const text = estimateText(found, '').split(' ± ')[0]
  return {
    text: isTold(found) ? text : `(${text})`,
    tone: found.mean < 0 ? 'less' : 'more',
    share: Math.abs(found.mean) / largest,
  }
}
