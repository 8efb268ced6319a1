// One small model on narrow kernels and on the tiled ones of a large model: the same numbers, but
// for rounding.

import { expect, test } from 'vitest'
import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { dispatchesOf } from '../../kernels/device/testing.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import { Rollout } from '../rollout/rollout.ts'
import { createRolloutTensors } from '../rollout/rollout_tensors.ts'
import { flatOf, TINY, testBatch, testGradients, testModel, testWeights } from '../testing.ts'
import { backward } from './backward.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

const gpu = await Gpu.open()
const L = TINY.num_hidden_layers
const P = 5
const R = 4
const LENGTHS = [5, 2, 4, 1].map((prompt) => ({ prompt, response: R }))
const BATCH = testBatch(LENGTHS, { P, R, vocab_size: TINY.vocab_size, seed: 7 })
/** As the model is held to the float64 one: f32 through three blocks. */
const CLOSE = { atol: 2e-5, rtol: 2e-5 }
/** As a decoded token is held to the whole row. */
const DECODED = { atol: 3e-5, rtol: 3e-5 }

const build = (narrowKernels: boolean) => {
  const { layout, flat } = testWeights({ ...TINY, narrowKernels }, 1)
  return { layout, model: testModel(gpu, layout, flat) }
}

/** Kernels of families that have narrow ones, which it dispatches. */
const families = (program: Program<never>) => {
  const names = dispatchesOf(program).map(({ kernel }) => kernel.name)
  const own = names.filter((name) => /^(attention|vocab_head|embedding_backward)/.test(name))
  const narrow = new Set(own.filter((name) => name.includes('narrow')))
  return { narrow: narrow.size, others: new Set(own).size - narrow.size }
}

/** Policy and gradients of a batch. */
async function pass(narrowKernels: boolean, batch = BATCH) {
  const { layout, model } = build(narrowKernels)
  const { shape } = layout
  const grads = testGradients(gpu, layout)
  const { rows } = batch
  const parts = headSplits(rows * R, shape)
  const size = { rows, width: P + R, response_length: R, trains: true, headSplits: parts }
  const ws = createWorkspace(gpu, shape, size)
  uploadRows(gpu, ws, batch)
  gpu.write(ws.response.d_log_probs, randomValues(rows * R, 3))
  gpu.write(ws.response.d_entropy, randomValues(rows * R, 4))
  const program = await gpu.record('pass', [], (r) => {
    forward(r, model, ws)
    readPolicy(r, model, ws, { layer: L, inv_temperature: 1 })
    backward(r, model, grads, ws, { layer: L, inv_temperature: 1 })
  })
  gpu.replay(program)
  const { log_probs, entropy } = ws.response
  const read = await gpu.read(log_probs, entropy, flatOf(grads))
  return { log_probs: read[0], entropy: read[1], gradients: read[2], kernels: families(program) }
}

/** Responses that fill their columns, to the prompts of BATCH. */
async function respond(narrowKernels: boolean) {
  const { layout, model } = build(narrowKernels)
  const size = { rows: BATCH.rows, prompt_length: P, response_length: R }
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  const special = { eos_token_ids: [], pad_token_id: 0 }
  const rollout = await Rollout.create(gpu, model, size, tensors, { special })
  const columns = (x: Uint32Array) => x.filter((_, i) => i % (P + R) < P)
  const prompts = {
    input_ids: columns(BATCH.input_ids),
    attention_mask: columns(BATCH.attention_mask),
  }
  const draw = { temperature: 1, top_k: null, top_p: 1, seed: 1, stream: 0, step: 0, row_offset: 0 }
  await rollout.generate(prompts, draw)
  const [ids, log_probs] = await gpu.read(tensors.response_ids, tensors.log_probs)
  return { ids, log_probs, turns_apart: tensors.decode.qkv_rotated !== undefined }
}

test('a pass over tiled kernels has the policy and the gradients of one over narrow kernels', async () => {
  const narrow = await pass(true)
  const tiled = await pass(false)
  // Forward and two backwards of attention and of the head, and the embedding's backward.
  expect([narrow.kernels, tiled.kernels]).toEqual([
    { narrow: 7, others: 0 },
    { narrow: 0, others: 7 },
  ])
  expectClose(tiled.log_probs, narrow.log_probs, CLOSE)
  expectClose(tiled.entropy, narrow.entropy, CLOSE)
  const scale = Math.max(...narrow.gradients.map(Math.abs))
  expect(scale).toBeGreaterThan(0.1)
  expectClose(tiled.gradients, narrow.gradients, { atol: 3e-6 * scale, rtol: 1e-4 })
})

test('tokens decoded by either have the log-probs of a forward by either', async () => {
  const [narrow, tiled] = [await respond(true), await respond(false)]
  expect([narrow.turns_apart, tiled.turns_apart]).toEqual([false, true])
  expect(tiled.ids).toEqual(narrow.ids)
  const input_ids = BATCH.input_ids.map((id, i) => {
    const column = i % (P + R)
    return column < P ? id : narrow.ids[Math.floor(i / (P + R)) * R + column - P]
  })
  const batch = { ...BATCH, input_ids, response_ids: narrow.ids }
  for (const isNarrow of [true, false]) {
    const { log_probs } = await pass(isNarrow, batch)
    expectClose(narrow.log_probs, log_probs, DECODED)
    expectClose(tiled.log_probs, log_probs, DECODED)
  }
})
