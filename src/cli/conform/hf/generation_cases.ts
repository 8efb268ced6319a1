// Greedy generation with the rollout's own programs, and Hugging Face's margins by the float64 reference.
import type { Gpu } from '../../../kernels/gpu.ts'
import { inverseFrequencies } from '../../../model/config.ts'
import { paramTensors } from '../../../model/params.ts'
import { createRolloutTensors, Rollout } from '../../../model/rollout.ts'
import { forwardRef, logitsRef } from '../../../model/transformer.ref.ts'
import { positionIds, responseEnds } from '../../../rl/batch.ts'
import type { Check } from '../report.ts'
import { check, type ModelCase } from './model_case.ts'

export async function* generationChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const { expected } = c
  if (!expected.has('gen.sequences')) return
  yield marginCheck(c)
  if (!gpu) return
  const [rows, prompt_length] = expected.tensor('gen.input_ids').shape
  const [, columns] = expected.tensor('gen.sequences').shape
  const response_length = columns - prompt_length
  const { layout, weights, eos_token_ids, pad_token_id = 0 } = c.model
  const { shape } = c
  const flat = gpu.tensor('weights', 'f32', [layout.size], { data: weights })
  const data = Float32Array.from(inverseFrequencies(c.model.config))
  const inv_freq = gpu.tensor('inv_freq', 'f32', [data.length], { data })
  const model = { shape, weights: paramTensors(gpu, layout, flat), inv_freq }
  const size = { rows, prompt_length, response_length }
  const tensors = createRolloutTensors(gpu, shape, size)
  const special = { eos_token_ids, pad_token_id }
  const rollout = await Rollout.create(gpu, model, size, tensors, special)
  const prompts = {
    input_ids: expected.ids('gen.input_ids'),
    attention_mask: expected.ids('gen.attention_mask'),
  }
  const greedy = { temperature: 0, top_k: -1, top_p: 1 }
  rollout.generate(prompts, { ...greedy, seed: 0, stream: 0, step: 0, row_offset: 0 })
  const [response_ids] = await gpu.read(tensors.response_ids)
  const sequences = new Uint32Array(rows * columns)
  for (let b = 0; b < rows; b++) {
    const prompt = prompts.input_ids.subarray(b * prompt_length, (b + 1) * prompt_length)
    sequences.set(prompt, b * columns)
    const response = response_ids.subarray(b * response_length, (b + 1) * response_length)
    sequences.set(response, b * columns + prompt_length)
  }
  const { response_lengths } = responseEnds(response_ids, response_length, eos_token_ids)
  yield check(c, 'gen', 'gpu', {
    sequences: {
      actual: sequences,
      expected: expected.ids('gen.sequences'),
      shape: [rows, columns],
      tolerance: 'exact',
    },
    new_lengths: {
      actual: response_lengths,
      expected: expected.ids('gen.new_lengths'),
      tolerance: 'exact',
    },
  })
}

/** Gap between the two largest logits at each generated token; the larger one must be the token that was generated. */
function marginCheck(c: ModelCase): Check {
  const { expected, model, params } = c
  const { config } = model
  const sequences = expected.ids('gen.sequences')
  const [rows, width] = expected.tensor('gen.sequences').shape
  const { data: prompt_mask, shape } = expected.tensor('gen.attention_mask')
  const P = shape[1]
  const R = width - P
  const lengths = expected.ids('gen.new_lengths')
  const attention_mask = Uint32Array.from(sequences, (_, i) => {
    const column = i % width
    const b = Math.floor(i / width)
    return column < P ? Number(prompt_mask[b * P + column]) : Number(column - P < lengths[b])
  })
  const position_ids = positionIds(attention_mask, width)
  const batch = { input_ids: sequences, attention_mask, position_ids, rows, width }
  const { normed } = forwardRef(config, params, batch)
  const margins = new Float64Array(rows * R)
  const chosen = new Uint32Array(rows * R)
  const C = config.hidden_size
  for (let i = 0; i < rows * R; i++) {
    const b = Math.floor(i / R)
    const m = b * width + P - 1 + (i % R)
    if (i % R >= lengths[b]) {
      chosen[i] = sequences[m + 1]
      continue
    }
    const logits = logitsRef(config, params, normed.subarray(m * C, (m + 1) * C))
    const [best, second] = Array.from(logits).sort((a, b) => b - a)
    margins[i] = best - second
    chosen[i] = logits.indexOf(best)
  }
  const golden = expected.numbers('gen.margin')
  const responses = Uint32Array.from(
    chosen,
    (_, i) => sequences[Math.floor(i / R) * width + P + (i % R)],
  )
  const is_generated = Uint32Array.from(chosen, (_, i) =>
    Number(i % R < lengths[Math.floor(i / R)]),
  )
  return check(c, 'gen', 'reference', {
    sequences: { actual: chosen, expected: responses, shape: [rows, R], tolerance: 'exact' },
    margin: {
      actual: margins,
      // After the end there is nothing to compare.
      expected: golden.map((x, i) => (is_generated[i] ? x : 0)),
      shape: [rows, R],
      tolerance: { rtol: 1e-6, atol: 1e-6 },
    },
  })
}
