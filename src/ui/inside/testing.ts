// Makes up observations for tests; never shipped.
import type { Observation, ObservedValues } from '../../host/protocol/observation.ts'
import type { Seen } from './base/observed.ts'

/** An observation of a model with 2 layers, in which every number says where it is from; `mean`
 * replaces what it names. */
export function observationOf(
  mean: ObservedValues = {},
  rest: Partial<Omit<Observation, 'mean'>> = {},
): Observation {
  return {
    ...({ rows: 'responses' } as const),
    num_hidden_layers: 2,
    tokens: 10,
    mean,
    std: {},
    layer: 1,
    lenses: [],
    cost_ms: {},
    ...rest,
  }
}

/** Entropies of states, attention and feed-forward writes. */
export const FLOW: ObservedValues = {
  ent_layer_raw: [3, 2, 1],
  ent_layer_norm: [1.5, 2.5, 0.5],
  ent_attn_out: [3.1, 3.2],
  ent_ffn_out: [2.1, 2.2],
}

export const seenAt = (step: number, observation: Observation): Seen => ({
  step,
  item: observation,
  bytes: 100,
})
