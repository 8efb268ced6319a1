// Finds wrong results. Speed alone passes or fails nothing.
import type { LimitsRow } from '../page/limits.ts'
import type { MatmulRow } from '../page/matmul.ts'
import type { ModelRow } from '../page/models.ts'
import type { ProductRow } from '../page/products.ts'
import type { ScalingRow } from '../page/scaling.ts'
import type { SftRow } from '../page/sft.ts'

/** Larger than any rounding in float32; a wrong kernel is off by far more. */
const LARGEST_ERROR = 1e-3
/** Of losses, relative: rounding of one forward, and of three AdamW steps, whose size does not
 * shrink with the gradient. */
const LOSS_TOLERANCE = { first: 1e-5, last: 1e-3 }
/** A new model's logits are small, not zero: its loss differs from ln V by at most this,
 * relative. */
const FRESH_TOLERANCE = 0.1

export function wrongProducts(matmul: readonly MatmulRow[]): string[] {
  return matmul
    .filter(({ error }) => Object.values(error).some((value) => !(value < LARGEST_ERROR)))
    .map((row) => `matmul ${row.of} ${row.op}: results differ ${JSON.stringify(row.error)}`)
}

/** A long product that was not cut, or not to the bit. */
export const wrongLimits = ({ parts, has_same_bits }: LimitsRow): string[] =>
  parts > 1 && has_same_bits
    ? []
    : [`limits: ${parts} parts, ${has_same_bits ? 'the same' : 'other'} bits`]

/** Variants that were quicker than the default, and wrong. */
export const wrongVariants = (products: readonly ProductRow[]): string[] =>
  products.flatMap(({ of, op, m, n, k, timings }) =>
    timings
      .filter(({ is_wrong }) => is_wrong)
      .map(({ variant }) => `products ${of} ${op} [${m}, ${n}] over ${k}: ${variant} is wrong`),
  )

/** The other libraries' losses against ours, before any step and after the last checked one. */
export function wrongLosses({ model, checked, failed }: SftRow): string[] {
  const ours = checked.understory?.losses
  if (!ours) return [`sft ${model}: ${failed.understory}`]
  const off = (losses: readonly number[], i: number) =>
    Math.abs(losses[i] - ours[i]) / Math.abs(ours[i])
  return Object.entries(checked)
    .filter(
      ([, { losses }]) =>
        !(off(losses, 0) < LOSS_TOLERANCE.first) ||
        !(off(losses, losses.length - 1) < LOSS_TOLERANCE.last),
    )
    .map(([name, { losses }]) => `sft ${model}: ${name} has losses ${losses}, ours ${ours}`)
}

/** Losses of new models, which show only that the step computed something. */
export function wrongScaling({ axis, points }: ScalingRow): string[] {
  return points.flatMap(({ value, vocab_size, loss }) => {
    const expected = Math.log(vocab_size)
    if (Math.abs(loss - expected) < FRESH_TOLERANCE * expected) return []
    return [`scaling ${axis} ${value}: loss ${loss}, expected about ${expected}`]
  })
}

/** The plan of a run is what a person sees before it begins. */
export function wrongMemory({ model, trained }: ModelRow): string[] {
  return trained
    .filter(({ planned_bytes, counted_bytes }) => planned_bytes !== counted_bytes)
    .map(
      ({ how, planned_bytes, counted_bytes }) =>
        `models ${model}, ${how}: planned ${planned_bytes} bytes, and ${counted_bytes} are held`,
    )
}
