// Answers the questions of the tab Inside in a sentence each, from what was observed of the shown
// run: the figures below them have the whole.
import type { Observation } from '../../../host/protocol/observation.ts'
import type { Touched } from '../../../host/protocol/touch.ts'
import type { Kept } from '../../../record/run/kept.ts'
import { layersSay } from '../../plot/lines/course_says.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { lensesSay } from '../../tokens/lens/lens.ts'
import { mostNeeded } from '../../touch/words/part_words.ts'
import { type ObservedQuantity, observedAt, type Seen } from './observed.ts'
import { deltaSays, flowSays, heatSays, policyName } from './says.ts'

/** `last` is the model's last layer. */
type Answer = (
  kept: Kept<Observation>,
  step: number | undefined,
  last: number,
) => string | undefined

/** What a figure says of the newest moment that has what it draws. */
const of =
  (quantities: readonly ObservedQuantity[], says: (seen: Seen) => string | undefined): Answer =>
  (kept, step) => {
    const seen = observedAt(kept, step, quantities)
    return seen && says(seen)
  }

const flowOf = of(['ent_layer_norm'], flowSays)

/** What layers name of the held-out answers that the lens measured; else where they decide. */
const known: Answer = (kept, step, last) => {
  const seen = kept.items.findLast(
    ({ step: at, item }) =>
      (step === undefined || at <= step) && item.lenses.some((lens) => lens.is_held_out),
  )
  const lenses = seen?.item.lenses.filter((lens) => lens.is_held_out)
  return (lenses && lensesSay(lenses, 'raw', seen?.step)) || flowOf(kept, step, last)
}

/** The policies of all layers are metrics of every step; where a run has none, what was observed
 * of them tells what changed. */
export const changedSays: Answer = (kept, step, last) => {
  const layers = Array.from({ length: last + 1 }, (_, layer) => ({
    metric: layerEntropy(layer),
    label: policyName(layer, last),
  }))
  const seen = observedAt(kept, step, ['ent_layer_raw', 'ent_layer_norm'])
  return layersSay(layers) || (seen && heatSays(kept.items, seen))
}

const needed: Answer = ({ items }, step) => {
  const seen = items.findLast(
    ({ step: at, item }) => item.parts && (step === undefined || at <= step),
  )
  return seen?.item.parts && mostNeeded(seen.item.parts, seen.step)
}

/** In the order of the tab. */
export const QUESTIONS = {
  'What does a layer know?': known,
  'What does a block do?': of(['dH_attn', 'dH_ffn', 'dH_layer'], deltaSays),
  'What changed?': changedSays,
  'What causes it?': needed,
} as const satisfies Record<string, Answer>

export type Question = keyof typeof QUESTIONS

/** What was found last by switching the parts of a kept state off, which its card says too. */
export const pressedSays = (found: Touched | undefined): string | undefined =>
  found?.what === 'parts' ? mostNeeded(found.costs, found.step) : undefined
