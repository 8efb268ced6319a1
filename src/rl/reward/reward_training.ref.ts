// Computes a reward model that learns from pairs, in float64.
import { adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import { bradleyTerryRef } from '../../kernels/preference_loss/preference_loss.ref.ts'
import { modelShape } from '../../model/layout/config.ts'
import { chunkSegments } from '../../model/layout/flat_params.ts'
import { initialWeights, paramLayout, sharedRuns } from '../../model/layout/params.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { valuesBackwardRef, valuesRef } from '../../model/transformer/value.ref.ts'
import { CONFIG } from '../testing.ts'
import type { SequenceRow } from './pairs.ts'
import { sequencesOf } from './reward_training.ts'

/** The reward model of CONFIG in float64. */
export class RewardRef {
  readonly layout = paramLayout(modelShape(CONFIG.model), 'reward_head')
  readonly weights = Float64Array.from(initialWeights(this.layout, CONFIG.seed))
  readonly #m = new Float64Array(this.layout.size)
  readonly #v = new Float64Array(this.layout.size)
  readonly #steps = this.layout.segment_ends.map(() => 0)

  /** The policy's transformer under the first score. */
  constructor(policy: Float32Array) {
    const from = paramLayout(modelShape(CONFIG.model))
    for (const { fromOffset, toOffset, count } of sharedRuns(from, this.layout))
      this.weights.set(policy.subarray(fromOffset, fromOffset + count), toOffset)
  }

  get #params(): RefArrays {
    return Object.fromEntries(
      this.layout.params.map(({ name, offset, size }) => [
        name,
        this.weights.subarray(offset, offset + size),
      ]),
    )
  }

  #forward(rows: readonly SequenceRow[]) {
    const sequences = sequencesOf(rows, rows.length)
    const width = rows[0].input_ids.length
    const cache = forwardRef(CONFIG.model, this.#params, { ...sequences, rows: rows.length, width })
    const values = valuesRef(this.#params, cache)
    const last_rows = sequences.last_rows ?? new Uint32Array()
    return { cache, values, last_rows, scores: Float64Array.from(last_rows, (m) => values[m]) }
  }

  scores(rows: readonly SequenceRow[]): Float64Array {
    return this.#forward(rows).scores
  }

  /** One step on rows of which the first half is chosen. */
  update(rows: readonly SequenceRow[], lr: number) {
    const { cache, values, last_rows, scores } = this.#forward(rows)
    const { loss, accuracy, d_scores } = bradleyTerryRef(scores)
    const d_values = new Float64Array(values.length)
    last_rows.forEach((m, b) => {
      d_values[m] += d_scores[b]
    })
    const grads = valuesBackwardRef(CONFIG.model, this.#params, cache, d_values)
    const dFlat = new Float64Array(this.layout.size)
    for (const { name, offset } of this.layout.params) dFlat.set(grads[name], offset)
    const settings = { lr, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, max_norm: 1 }
    const { grad_norm } = adamwRef(
      { weights: this.weights, m: this.#m, v: this.#v, steps: this.#steps },
      dFlat,
      settings,
      {
        count: this.layout.size,
        chunk_segment: chunkSegments(this.layout),
        active_segments: this.layout.segment_ends.length,
      },
    )
    const pairs = rows.length / 2
    const margin = scores.reduce((sum, s, i) => sum + (i < pairs ? s : -s), 0) / pairs
    return { loss, accuracy, margin, grad_norm }
  }
}
