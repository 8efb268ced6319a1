// How far layers are from a teacher of other sizes, against both models in float64.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { expectClose } from '../../../kernels/testing.ts'
import { readPolicyRef } from '../../../model/interventions/readings.ref.ts'
import { modelShape } from '../../../model/layout/config.ts'
import {
  initialWeights,
  type ParamLayout,
  paramLayout,
  unpackWeights,
} from '../../../model/layout/params.ts'
import { forwardRef } from '../../../model/transformer/transformer.ref.ts'
import { CONFIG } from '../../testing.ts'
import { LARGER } from '../distilled/testing.ts'
import { answersOf } from './answers/problem_texts.ts'
import { teacherKl } from './teacher_kl.ts'

const own = paramLayout(modelShape(CONFIG.model))
const layout = paramLayout(modelShape(LARGER))
const wide = (of: ParamLayout, seed: number) => initialWeights(of, seed).map((x) => 4 * x)
const teacher = { layout, weights: wide(layout, 5) }
/** More than one pass, with a part of one behind. */
const texts = answersOf(CONFIG, 70)

/** Log-probabilities of every layer below the last, and of the final policy, at every token. */
function policies(
  model: typeof CONFIG.model,
  { weights, of }: { weights: Float32Array; of: ParamLayout },
  ids: readonly number[],
) {
  const params = Object.fromEntries(
    Object.entries(unpackWeights(of, weights)).map(([name, x]) => [name, Float64Array.from(x)]),
  )
  const batch = {
    rows: 1,
    width: ids.length,
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    position_ids: ids.map((_, i) => i),
  }
  return forwardRef(model, params, batch).hidden_states.map((states, l) =>
    readPolicyRef(model, params, states, l < model.num_hidden_layers ? 'raw' : 'normed'),
  )
}

test('every layer’s divergence from a teacher is that of both models in float64, state by state', async () => {
  const states = [wide(own, 1), wide(own, 2)]
  const gpu = await Gpu.open()
  const found = await teacherKl(
    gpu,
    own,
    teacher,
    texts,
    states.map((x) => async () => x),
  )
  gpu.destroy()
  const V = CONFIG.model.vocab_size
  const wanted = states.map((weights) => {
    const sums = Array.from({ length: CONFIG.model.num_hidden_layers + 1 }, () => 0)
    let tokens = 0
    for (const { ids, prompt_length } of texts) {
      const taught = policies(CONFIG.model, { weights, of: own }, ids)
      const p = policies(LARGER, { weights: teacher.weights, of: layout }, ids).at(-1)
      for (let i = prompt_length - 1; i < ids.length - 1; i++) {
        tokens++
        for (const [l, q] of taught.entries())
          for (let v = i * V; v < (i + 1) * V; v++)
            sums[l] += Math.exp(p?.[v] ?? 0) * ((p?.[v] ?? 0) - q[v])
      }
    }
    return sums.map((sum) => sum / tokens)
  })
  expectClose(found.flat(), wanted.flat(), { atol: 1e-5, rtol: 1e-5 })
  expect(found[0]).not.toEqual(found[1])
})
