// A model whose vocabulary lies in several ranges of rows, beside the same model in one piece.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import { recordInternals } from '../internals/internals.ts'
import { createInternals, readInternals, uploadInternals } from '../internals/internals_tensors.ts'
import { createLens, recordLens, unpackLens, uploadLens } from '../internals/lens.ts'
import type { ModelConfig } from '../layout/config.ts'
import { readParams } from '../params/param_copies.ts'
import { Rollout } from '../rollout/rollout.ts'
import { createRolloutTensors } from '../rollout/rollout_tensors.ts'
import { TINY, testBatch, testGradients, testModel, testWeights } from '../testing.ts'
import { backward } from './backward.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

/** Buffers of 5 KB hold 64 rows of an embedding of 150. */
const parts = await Gpu.open({ segmentBytes: 5120 })
const whole = await Gpu.open()

const CONFIG: ModelConfig = { ...TINY, vocab_size: 150 }
const UNTIED = { ...CONFIG, tie_word_embeddings: false }
const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
  { prompt: 4, response: 3 },
]
const BATCH = testBatch(LENGTHS, { P: 5, R: 4, vocab_size: 150, seed: 7 })

function build(gpu: Gpu, config: ModelConfig) {
  const { layout, flat } = testWeights(config, 3)
  // A part of the vocabulary has another shape, for which a choice may name nothing: the default
  // kernels sum in one order at every size.
  return { layout, model: testModel(gpu, layout, flat, { matmul: {} }) }
}

async function trained(gpu: Gpu, config: ModelConfig) {
  const { layout, model } = build(gpu, config)
  const { shape } = layout
  const grads = testGradients(gpu, layout)
  const { rows, width, R } = BATCH
  const ws = createWorkspace(gpu, shape, {
    rows,
    width,
    response_length: R,
    trains: true,
    headSplits: headSplits(rows * R, shape),
  })
  uploadRows(gpu, ws, BATCH)
  gpu.write(ws.response.d_log_probs, randomValues(rows * R, 1))
  gpu.write(ws.response.d_entropy, randomValues(rows * R, 2))
  const program = await gpu.record('step', [], (r) => {
    forward(r, model, ws)
    readPolicy(r, model, ws, { layer: shape.num_hidden_layers, inv_temperature: 0.8 })
    backward(r, model, grads, ws, { layer: shape.num_hidden_layers, inv_temperature: 0.8 })
  })
  gpu.replay(program)
  const { log_probs, entropy } = ws.response
  return {
    ranges: model.weights.lm_head.length,
    scores: await gpu.read(log_probs, entropy),
    gradients: await readParams(gpu, grads.buffers),
  }
}

test.for([CONFIG, UNTIED])(
  'scores and gradients are those of one piece, tied %#',
  async (config) => {
    const [several, one] = [await trained(parts, config), await trained(whole, config)]
    expect([several.ranges, one.ranges]).toEqual([3, 1])
    // The same sums in another order.
    several.scores.forEach((x, i) => {
      expectClose(x, one.scores[i], { atol: 2e-6, rtol: 2e-6 })
    })
    several.gradients.forEach((x, i) => {
      expectClose(x, one.gradients[i], { atol: 2e-5, rtol: 2e-5 })
    })
  },
)

async function sampled(gpu: Gpu) {
  const { layout, model } = build(gpu, CONFIG)
  const size = { rows: 6, n: 2, prompt_length: 5, response_length: 6 }
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  const special = { eos_token_ids: [], pad_token_id: 0 }
  const rollout = await Rollout.create(gpu, model, size, tensors, { special })
  const prompts = testBatch(LENGTHS, { P: 5, R: 0, vocab_size: 150, seed: 4 })
  const sampling = { temperature: 1, top_k: 40, top_p: 0.9 }
  await rollout.generate(prompts, { ...sampling, seed: 1, stream: 0, step: 0, row_offset: 0 })
  return gpu.read(tensors.response_ids, tensors.log_probs, tensors.entropy)
}

test('a rollout has the same tokens, log-probs and entropies, bit for bit', async () => {
  expect(await sampled(parts)).toEqual(await sampled(whole))
})

async function looked(gpu: Gpu) {
  const { layout, model } = build(gpu, CONFIG)
  const { shape } = layout
  const lens = createLens(gpu, shape, { texts: 1, width: 7 })
  uploadLens(gpu, lens, [[3, 149, 64, 63, 5]])
  gpu.replay(await gpu.record('lens', ['text'], (r) => recordLens(r, model, lens)), { text: 0 })
  const { rows, width, R } = BATCH
  const ws = createWorkspace(gpu, shape, { rows, width, response_length: R, trains: false })
  const quantities = ['ent_layer_raw', 'kl_layer_final', 'logits'] as const
  const t = createInternals(gpu, shape, ws, { quantities, positions: 'response' })
  uploadInternals(gpu, t, BATCH)
  gpu.replay(await gpu.record('internals', [], (r) => recordInternals(r, model, t)))
  const { values } = await readInternals(gpu, t)
  return { lens: unpackLens(lens, await gpu.read(...lens.outputs), 0, 5).normed, values }
}

test('the lens and the inside are those of one piece', async () => {
  const [several, one] = [await looked(parts), await looked(whole)]
  expect(several.lens.ids).toEqual(one.lens.ids)
  expect(several.lens.probs).toEqual(one.lens.probs)
  expect(several.values.logits).toEqual(one.values.logits)
  const close = { atol: 2e-6, rtol: 2e-6 }
  expectClose(several.lens.entropy, one.lens.entropy, close)
  expectClose(several.values.ent_layer_raw, one.values.ent_layer_raw, close)
  expectClose(several.values.kl_layer_final, one.values.kl_layer_final, { atol: 5e-6, rtol: 1e-5 })
})
