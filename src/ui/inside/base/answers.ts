// Answers the questions of the tab Inside in a sentence each, from what was observed of the shown
// run: the figures below them have the whole.
import type { Observation } from '../../../host/protocol/observation.ts'
import type { Kept } from '../../../record/run/kept.ts'
import { layersSay } from '../../plot/lines/course_says.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { lensesSay } from '../../tokens/lens/lens.ts'
import { mostNeeded } from '../../touch/words/part_words.ts'
import { type ObservedQuantity, observedAt, type Seen } from './observed.ts'
import { deltaSays, flowSays, heatSays, policyName } from './says.ts'

type Answer = (kept: Kept<Observation>, step: number | undefined) => string | undefined

/** What a figure says of the newest moment that has what it draws. */
const of =
  (
    quantities: readonly ObservedQuantity[],
    says: (seen: Seen, items: readonly Seen[]) => string | undefined,
  ): Answer =>
  (kept, step) => {
    const seen = observedAt(kept, step, quantities)
    return seen && says(seen, kept.items)
  }

const flowOf = of(['ent_layer_norm'], ({ item }) => flowSays(item))

/** What layers name of the held-out answers that the lens measured; else where they decide. */
const known: Answer = (kept, step) => {
  const lenses = kept.items
    .findLast(
      ({ step: at, item }) =>
        (step === undefined || at <= step) && item.lenses.some((lens) => lens.is_held_out),
    )
    ?.item.lenses.filter((lens) => lens.is_held_out)
  return (lenses && lensesSay(lenses, 'raw')) || flowOf(kept, step)
}

/** Where only one moment was observed, the metrics of every step tell what changed. */
export function changedSays(items: readonly Seen[], seen: Seen): string | undefined {
  const { num_hidden_layers: last } = seen.item
  const alike = items.filter(({ step, item }) => step < seen.step && item.rows === seen.item.rows)
  const layers = Array.from({ length: last + 1 }, (_, layer) => ({
    metric: layerEntropy(layer),
    label: policyName(layer, last),
  }))
  return (alike.length === 0 && layersSay(layers)) || heatSays(items, seen)
}

const needed: Answer = ({ items }, step) => {
  const parts = items.findLast(
    ({ step: at, item }) => item.parts && (step === undefined || at <= step),
  )?.item.parts
  return parts && mostNeeded(parts)
}

/** In the order of the tab. */
export const QUESTIONS = {
  'What does a layer know?': known,
  'What does a block do?': of(['dH_attn', 'dH_ffn', 'dH_layer'], deltaSays),
  'What changed?': of(['ent_layer_raw', 'ent_layer_norm'], (seen, items) =>
    changedSays(items, seen),
  ),
  'What causes it?': needed,
} as const satisfies Record<string, Answer>

export type Question = keyof typeof QUESTIONS
