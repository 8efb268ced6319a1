// Applies a table of interventions to states in float64.
import { ENTRY_SIZE, KEEPS } from './interventions.ts'

type Numbers = ArrayLike<number>

/** `state` [tokens, cols] after the entries of a place, in f64; see apply_interventions. */
export function applyInterventionsRef(
  { table, values, chosen, base_a, base_b, state }: Readonly<Record<string, Numbers>>,
  p: {
    readonly tokens: number
    readonly cols: number
    readonly place: number
    readonly places: number
    readonly mask_tokens: number
    readonly mask_stride: number
    readonly mask_offset: number
  },
): Float64Array {
  const y = Float64Array.from(state)
  const [first, count] = [table[2 * p.place], table[2 * p.place + 1]]
  for (let e = first; e < first + count; e++) {
    const at = 2 * p.places + ENTRY_SIZE * e
    const [column, columns, keeps, begin, stride, mask] = Array.from(
      { length: 6 },
      (_, i) => table[at + i],
    )
    for (let m = 0; m < p.tokens; m++) {
      const token = m * p.mask_stride + p.mask_offset
      if (mask > 0 && !chosen[(mask - 1) * p.mask_tokens + token]) continue
      for (let c = 0; c < columns; c++) {
        const i = m * p.cols + column + c
        const kept: Record<number, number> = {
          [KEEPS.base_a]: base_a[i],
          [KEEPS.base_b]: base_b[i],
          [KEEPS.state]: y[i],
        }
        y[i] = (kept[keeps] ?? 0) + values[begin + token * stride + c]
      }
    }
  }
  return y
}
