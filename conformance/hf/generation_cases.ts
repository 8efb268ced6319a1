// Checks greedy generation with the rollout's own programs, and Hugging Face's margins by the
// float64 reference.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { Rollout } from '../../src/model/rollout/rollout.ts'
import { createRolloutTensors } from '../../src/model/rollout/rollout_tensors.ts'
import { logitsRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { positionIds, responseEnds } from '../../src/rl/experience/batch.ts'
import type { Check } from '../base/report.ts'
import { uploadCase } from './gpu_model.ts'
import { check, type ModelCase } from './model_case.ts'

/** Margins in float64, tokens by the rollout. */
export async function* generationChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const { expected } = c
  if (!expected.has('gen.sequences')) return
  yield marginCheck(c)
  if (!gpu) return
  const [rows, prompt_length] = expected.tensor('gen.input_ids').shape
  const [, columns] = expected.tensor('gen.sequences').shape
  const response_length = columns - prompt_length
  const { eos_token_ids, pad_token_id = 0 } = c.model
  const size = { rows, prompt_length, response_length }
  const tensors = createRolloutTensors(gpu, c.shape, size)
  const special = { eos_token_ids, pad_token_id }
  const rollout = await Rollout.create(gpu, uploadCase(c, gpu), size, tensors, { special })
  const prompts = {
    input_ids: expected.ids('gen.input_ids'),
    attention_mask: expected.ids('gen.attention_mask'),
  }
  const greedy = { temperature: 0, top_k: null, top_p: 1 }
  await rollout.generate(prompts, { ...greedy, seed: 0, stream: 0, step: 0, row_offset: 0 })
  const [responseIds] = await gpu.read(tensors.response_ids)
  const sequences = new Uint32Array(rows * columns)
  for (let b = 0; b < rows; b++) {
    const prompt = prompts.input_ids.subarray(b * prompt_length, (b + 1) * prompt_length)
    sequences.set(prompt, b * columns)
    const response = responseIds.subarray(b * response_length, (b + 1) * response_length)
    sequences.set(response, b * columns + prompt_length)
  }
  const { response_lengths } = responseEnds(responseIds, response_length, eos_token_ids)
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

/** Gap between the two largest logits at each generated token; the larger one must be the token
 * that was generated. */
function marginCheck(c: ModelCase): Check {
  const { expected } = c
  const [, width] = expected.tensor('gen.sequences').shape
  const [rows, P] = expected.tensor('gen.input_ids').shape
  const R = width - P
  const sequences = expected.ids('gen.sequences')
  const lengths = expected.ids('gen.new_lengths')
  const part = (first: number, columns: number) =>
    Uint32Array.from(
      { length: rows * columns },
      (_, i) => sequences[Math.floor(i / columns) * width + first + (i % columns)],
    )
  const isGenerated = (i: number) => i % R < lengths[Math.floor(i / R)]
  const responses = part(P, R)
  const { margins, best } = marginsRef(c, { sequences, rows, width, prompt_length: P, lengths })
  // After the end there is nothing to compare.
  const golden = expected.numbers('gen.margin').map((x, i) => (isGenerated(i) ? x : 0))
  return check(c, 'gen', 'reference', {
    prompts: {
      actual: part(0, P),
      expected: expected.ids('gen.input_ids'),
      shape: [rows, P],
      tolerance: 'exact',
    },
    sequences: {
      actual: best.map((id, i) => (isGenerated(i) ? id : responses[i])),
      expected: responses,
      shape: [rows, R],
      tolerance: 'exact',
    },
    margin: {
      actual: margins.map((x, i) => (isGenerated(i) ? x : 0)),
      expected: golden,
      shape: [rows, R],
      tolerance: { rtol: 1e-6, atol: 1e-6 },
    },
  })
}

interface Generated {
  readonly sequences: Uint32Array
  readonly rows: number
  readonly width: number
  readonly prompt_length: number
  readonly lengths: Uint32Array
}

/** The likeliest token after each column that predicts a response token, and its lead over the
 * second: [B, R]. */
function marginsRef({ expected, model: { config }, params }: ModelCase, generated: Generated) {
  const { sequences, rows, width, prompt_length: P, lengths } = generated
  const R = width - P
  const promptMask = expected.ids('gen.attention_mask')
  const attention_mask = Uint32Array.from(sequences, (_, i) => {
    const column = i % width
    const b = Math.floor(i / width)
    return column < P ? promptMask[b * P + column] : Number(column - P < lengths[b])
  })
  const position_ids = positionIds(attention_mask, width)
  const batch = { input_ids: sequences, attention_mask, position_ids, rows, width }
  const { normed } = forwardRef(config, params, batch)
  const margins = new Float64Array(rows * R)
  const best = new Uint32Array(rows * R)
  const C = config.hidden_size
  for (let i = 0; i < rows * R; i++) {
    const m = Math.floor(i / R) * width + P - 1 + (i % R)
    const logits = logitsRef(config, params, normed.subarray(m * C, (m + 1) * C))
    const [first, second] = Array.from(logits).sort((a, b) => b - a)
    margins[i] = first - second
    best[i] = logits.indexOf(first)
  }
  return { margins, best }
}
