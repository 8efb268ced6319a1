// Turns one observation into the points of the figures. Layers are numbered as in the BuPO paper
// (arXiv 2512.19673): 1…L are the blocks, and a state has a layer 0, the embedding.
import type { Observation, ObservedValues } from '../../../host/protocol/observation.ts'

/** [layer, value]; a value that was not measured is left out. */
export type Point = readonly [number, number]

/** How a state is read: softmax(H^l E^T), or with the final norm before it. */
export type Reading = 'raw' | 'normed'

/** The entropy of every layer's policy, as the charts over the run have it: of raw states, and of
 * the last layer that of the final policy, with its norm. */
export function policyEntropies({
  ent_layer_raw: raw,
  ent_layer_norm: normed,
}: ObservedValues): readonly number[] | undefined {
  return raw && normed && [...raw.slice(0, -1), normed[normed.length - 1]]
}

const FLOW_PLACES = ['input', 'attention', 'feed-forward', 'output'] as const
export type FlowPlace = (typeof FLOW_PLACES)[number]

export interface FlowPoint {
  readonly layer: number
  readonly place: FlowPlace
  /** Nats. */
  readonly value: number
  /** Read from the bare embedding through a norm that was made for other states. */
  readonly isGrey: boolean
}

/** [first, value], [first + 1, value], …: values of consecutive layers. */
const layered = (values: readonly number[] | undefined, first: number): Point[] =>
  (values ?? []).map((value, i) => [first + i, value])

/** Entropy on the way through the layers (paper, figure 2): of what enters layer l (H^{l−1}), of
 * what its attention (A^l) and its feed-forward (F^l) write, and of what leaves it (H^l). Nats.
 * `reading` is of the states; writes have no norm of their own. */
export function flowPoints(
  { num_hidden_layers, mean }: Observation,
  reading: Reading,
): FlowPoint[] {
  const states = reading === 'raw' ? mean.ent_layer_raw : mean.ent_layer_norm
  const { ent_attn_out, ent_ffn_out } = mean
  if (!states || !ent_attn_out || !ent_ffn_out) return []
  return Array.from({ length: num_hidden_layers }, (_, block) => [
    states[block],
    ent_attn_out[block],
    ent_ffn_out[block],
    states[block + 1],
  ]).flatMap((values, block) =>
    values.map((value, i) => ({
      layer: block + 1,
      place: FLOW_PLACES[i],
      value,
      isGrey: reading === 'normed' && block === 0 && i === 0,
    })),
  )
}

/** Where a flow point lies on the axis of layers: each layer has room of width 1, its four points
 * at even distances in it. */
export const flowAt = ({ layer, place }: FlowPoint): number =>
  layer + (FLOW_PLACES.indexOf(place) - 1.5) / 4

/** A place on the axis of layers, and a value. */
type At = readonly [at: number, value: number]

/** The way of the states, and for each write a stem from there: what a layer reads and leaves is
 * one sequence, and what its blocks write is none of its steps. */
export function flowWays(points: readonly FlowPoint[]): {
  readonly states: readonly At[]
  readonly stems: readonly { readonly place: FlowPlace; readonly points: readonly [At, At] }[]
} {
  const at = (point: FlowPoint): At => [flowAt(point), point.value]
  const isState = ({ place }: FlowPoint) => place === 'input' || place === 'output'
  const stems = points
    .filter((point) => !isState(point))
    .flatMap((write) => {
      const own = points.filter(({ layer }) => layer === write.layer)
      const [from, to] = own.filter(isState).map(at)
      if (!from || !to) return []
      const [x, value] = at(write)
      const share = (x - from[0]) / (to[0] - from[0])
      const state: At = [x, from[1] + share * (to[1] - from[1])]
      return [{ place: write.place, points: [state, [x, value]] as const }]
    })
  return { states: points.filter(isState).map(at), stems }
}

/** A mean over the tokens and one standard deviation to both sides, where that is known. */
export interface Band {
  readonly layer: number
  readonly mean: number
  readonly low: number | undefined
  readonly high: number | undefined
}

const CHANGES = {
  attention: 'dH_attn',
  'feed-forward': 'dH_ffn',
  layer: 'dH_layer',
} as const
export type Change = keyof typeof CHANGES
export const CHANGE_NAMES = Object.keys(CHANGES) as readonly Change[]

/** ΔH of every layer's attention, feed-forward or of the layer as a whole (paper, eqs. 8 and 11–13,
 * figure 3), nats. */
export function deltaBands({ mean, std }: Observation, change: Change): Band[] {
  const values = mean[CHANGES[change]]
  const spread = std[CHANGES[change]]
  return (values ?? []).map((value, i) => {
    const sigma = spread?.[i]
    return {
      layer: i + 1,
      mean: value,
      low: sigma === undefined ? undefined : value - sigma,
      high: sigma === undefined ? undefined : value + sigma,
    }
  })
}

/** cos(A^l, H^{l−1}) and cos(F^l, H^{l−1} + A^l) (paper, appendix B.5, figure 12). */
export const cosinePoints = ({ mean }: Observation) => ({
  attention: layered(mean.cos_attn, 1),
  feed_forward: layered(mean.cos_ffn, 1),
})

/** Euclidean lengths of H^0 … H^L and of what every block writes. */
export const normPoints = ({ mean }: Observation) => ({
  hidden: layered(mean.norm_hidden, 0),
  attention: layered(mean.norm_attn_out, 1),
  feed_forward: layered(mean.norm_ffn_out, 1),
})

/** cos(H^k, H^j) for j = 0…L (paper, figure 5a). */
export function similarityPoints({ num_hidden_layers: L, mean }: Observation, k: number): Point[] {
  const row = k * (L + 1)
  return layered(mean.cos_hidden?.slice(row, row + L + 1), 0)
}
