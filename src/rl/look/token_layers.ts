// Reads the entropies of every layer's policy at the tokens of a traced step: what of them a token
// table holds.
import { slotsOf } from '../../model/internals/internals_tensors.ts'
import type { TokenLayerTensors } from './observed_parts.ts'

/** Nats at token t under layer l at [t · (L+1) + l]; of the policy of H^l as it is, and of
 * final_norm(H^l). */
export interface TokenLayers {
  readonly raw: Float32Array
  readonly normed: Float32Array
}

/** How the layers of a traced step were measured. */
export interface LayersOfTable {
  /** L */
  readonly num_hidden_layers: number
  /** Milliseconds, as Observation.cost_ms. */
  readonly cost_ms?: number
  /** Why there are none. */
  readonly refused?: string
}

/** What comes back of a step's rows, in the order that was asked for; no rows where it was
 * refused. */
export interface TracedLayers {
  readonly layers: LayersOfTable
  readonly rows: readonly TokenLayers[]
}

/** `read`: tensors.all as it came back. `lengths`: tokens of each response, of as many rows as were
 * asked for. */
export function readTokenLayers(
  { internals, all }: TokenLayerTensors,
  read: Float32Array,
  lengths: readonly number[],
): TokenLayers[] {
  const [, count] = all.shape
  const { ws, columns, shape } = internals
  const states = shape.num_hidden_layers + 1
  return lengths.map((length, i) => {
    const chunk = Math.floor(i / ws.rows)
    const values = read.subarray(chunk * count, (chunk + 1) * count)
    const entropies = (quantity: 'ent_layer_raw' | 'ent_layer_norm') => {
      const ofLayers = slotsOf(internals, values, quantity)
      const first = (i % ws.rows) * columns
      return Float32Array.from({ length: length * states }, (_, at) => {
        const t = Math.floor(at / states)
        return ofLayers[at % states][first + t]
      })
    }
    return { raw: entropies('ent_layer_raw'), normed: entropies('ent_layer_norm') }
  })
}
