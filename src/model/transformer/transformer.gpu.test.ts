import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelConfig } from '../layout/config.ts'
import { unpackWeights } from '../layout/params.ts'
import type { PlainReadout } from '../layout/readout.ts'
import {
  CONFIGS,
  flatOf,
  TINY,
  testBatch,
  testGradients,
  testModel,
  testWeights,
} from '../testing.ts'
import { backwardRef } from './backward.ref.ts'
import { backward } from './backward.ts'
import type { Model } from './model.ts'
import { policyRef } from './policy.ref.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forwardRef } from './transformer.ref.ts'
import { forward } from './transformer.ts'
import { createWorkspace, sliceWorkspace, type Workspace } from './workspace.ts'

const gpu = await Gpu.open()

type Batch = ReturnType<typeof testBatch>

function build(
  config: ModelConfig,
  batch: Batch,
  seed = 1,
  options: { enable_gradient_checkpointing?: boolean } = {},
) {
  const { layout, flat, exact } = testWeights(config, seed)
  const { shape } = layout
  const model = testModel(gpu, layout, flat)
  const grads = testGradients(gpu, layout)
  const ws = createWorkspace(gpu, shape, {
    rows: batch.rows,
    width: batch.width,
    response_length: batch.R,
    trains: true,
    headSplits: headSplits(batch.rows * batch.R, shape),
    ...options,
  })
  load(ws, batch)
  return { layout, exact, model, grads, ws }
}

function load(ws: Workspace, batch: Batch) {
  uploadRows(gpu, ws, batch)
}

/** Log-probs and entropies of the policy of `layer`, [rows, R] each. */
async function score(
  model: Model,
  ws: Workspace,
  layer: number,
  temperature = 1,
  readout: PlainReadout = 'raw',
) {
  const program = await gpu.record('score', [], (r) => {
    forward(r, model, ws, { layers: layer })
    readPolicy(r, model, ws, { layer, inv_temperature: 1 / temperature, readout }, {})
  })
  gpu.replay(program)
  const [log_probs, entropy] = await gpu.read(ws.response.log_probs, ws.response.entropy)
  return { log_probs, entropy }
}

const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
  { prompt: 4, response: 3 },
  { prompt: 1, response: 4 },
]
const SIZE = { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 }
const BATCH = testBatch(LENGTHS, SIZE)
const refResponse = (batch: Batch, temperature: number) => ({
  response_ids: batch.response_ids,
  response_mask: batch.response_mask,
  first_column: batch.P - 1,
  response_length: batch.R,
  temperature,
})
const name = (c: ModelConfig) =>
  `${c.model_type}, ${c.tie_word_embeddings ? 'tied' : 'untied'}, ${c.num_attention_heads}:${c.num_key_value_heads}`

/** Holds policy and gradients of one layer to the float64 model. */
async function expectAgreement(
  config: ModelConfig,
  batch: Batch,
  layer: number,
  readout: PlainReadout = 'raw',
): Promise<void> {
  const { layout, exact, model, grads, ws } = build(config, batch)
  const temperature = 0.8
  const scored = await score(model, ws, layer, temperature, readout)
  const cache = forwardRef(config, exact, batch, { layers: layer })
  const response = { ...refResponse(batch, temperature), readout }
  const truth = policyRef(config, exact, cache, layer, response)
  // f32 through three blocks: a few ulp of numbers up to about 10.
  expectClose(scored.log_probs, truth.log_probs, { atol: 2e-5, rtol: 2e-5 })
  expectClose(scored.entropy, truth.entropy, { atol: 2e-5, rtol: 2e-5 })

  const mask = batch.response_mask
  const d_log_probs = randomValues(mask.length, 3).map((x, i) => x * mask[i])
  const d_entropy = randomValues(mask.length, 4).map((x, i) => x * mask[i])
  gpu.write(ws.response.d_log_probs, d_log_probs)
  gpu.write(ws.response.d_entropy, d_entropy)
  const program = await gpu.record('backward', [], (r) =>
    backward(r, model, grads, ws, { layer, inv_temperature: 1 / temperature, readout }),
  )
  gpu.replay(program)
  const [flat] = await gpu.read(flatOf(grads))
  const named = unpackWeights(layout, flat)
  const expected = backwardRef(config, exact, cache, layer, {
    ...response,
    d_log_probs,
    d_entropy,
  })
  const scale = Object.values(expected)
    .flatMap((g) => [...g])
    .reduce((most, g) => Math.max(most, Math.abs(g)), 0)
  for (const param of layout.params) {
    const truthGrad = expected[param.name]
    if (truthGrad) expectClose(named[param.name], truthGrad, { atol: 3e-6 * scale, rtol: 1e-4 })
    else
      expect(
        named[param.name].every((g) => g === 0),
        `${param.name} got a gradient`,
      ).toBe(true)
  }
}

describe.for(CONFIGS.map((config) => [name(config), config] as const))('%s', ([, config]) => {
  test.for([1, 2, 3])('layer %i: policy and every gradient equal the float64 model', (layer) =>
    expectAgreement(config, BATCH, layer),
  )

  test('layer 2 through the final norm: policy and every gradient, the norm’s too', () =>
    expectAgreement(config, BATCH, 2, 'normed'))
})

test('activations that the backward computes again give the same bits from less memory', async () => {
  const gradients = async (enable_gradient_checkpointing: boolean, layer: number) => {
    const before = gpu.memory().activations
    const { model, grads, ws } = build(TINY, BATCH, 1, { enable_gradient_checkpointing })
    const bytes = gpu.memory().activations - before
    await score(model, ws, layer)
    const d = BATCH.response_mask.map((m, i) => m * Math.sin(i))
    gpu.write(ws.response.d_log_probs, d)
    gpu.write(ws.response.d_entropy, d)
    const program = await gpu.record('backward', [], (r) =>
      backward(r, model, grads, ws, { layer, inv_temperature: 1 }),
    )
    gpu.replay(program)
    const [flat] = await gpu.read(flatOf(grads))
    return { flat, bytes }
  }
  for (const layer of [1, 2, 3]) {
    const kept = await gradients(false, layer)
    const again = await gradients(true, layer)
    expect(kept.flat.some((g) => g !== 0)).toBe(true)
    expect(again.flat).toEqual(kept.flat)
    expect(again.bytes).toBeLessThan(kept.bytes)
  }
})

test('activations kept in bfloat16 leave the policy’s bits, and gradients within their rounding', async () => {
  const gradients = async (activations_dtype: 'float32' | 'bfloat16', layer: number) => {
    const before = gpu.memory().activations
    const { model, grads, ws } = build({ ...TINY, activations_dtype }, BATCH)
    const bytes = gpu.memory().activations - before
    const { log_probs } = await score(model, ws, layer)
    const d = BATCH.response_mask.map((m, i) => m * Math.sin(i))
    gpu.write(ws.response.d_log_probs, d)
    gpu.write(ws.response.d_entropy, d)
    const program = await gpu.record('backward', [], (r) =>
      backward(r, model, grads, ws, { layer, inv_temperature: 1 }),
    )
    gpu.replay(program)
    const [flat] = await gpu.read(flatOf(grads))
    return { log_probs, flat, bytes }
  }
  const norm = (values: Float32Array) => Math.hypot(...values)
  for (const layer of [1, 2, 3]) {
    const exact = await gradients('float32', layer)
    const rounded = await gradients('bfloat16', layer)
    expect(rounded.log_probs).toEqual(exact.log_probs)
    expect(rounded.bytes).toBeLessThan(exact.bytes)
    const error = norm(rounded.flat.map((g, i) => g - exact.flat[i])) / norm(exact.flat)
    // A block that is the last of its policy has lost nothing. A bfloat16 is off by at most 2^-9 of
    // its value.
    if (layer === 1) expect(error).toBe(0)
    else expect(error).toBeGreaterThan(1e-5)
    expect(error).toBeLessThan(2 ** -8)
  }
})

test('beyond every size that the small kernels take, the model still equals the float64 one', async () => {
  const sizes = { vocab_size: 150, hidden_size: 132, intermediate_size: 140 }
  const heads = {
    num_hidden_layers: 2,
    num_attention_heads: 3,
    num_key_value_heads: 1,
    head_dim: 72,
  }
  const scaling = { factor: 8, low_freq_factor: 1, high_freq_factor: 4 }
  const rope_scaling = {
    rope_type: 'llama3' as const,
    ...scaling,
    original_max_position_embeddings: 64,
  }
  const config = { ...TINY, ...sizes, ...heads, model_type: 'llama' as const, rope_scaling }
  const batch = testBatch(LENGTHS, { ...SIZE, vocab_size: 150 })
  for (const layer of [1, 2]) await expectAgreement(config, batch, layer)
})

test('a row scores the same bits alone, in another order, and in a slice of a larger workspace', async () => {
  const { model, ws } = build(TINY, BATCH)
  const whole = await score(model, ws, 3)
  const order = [2, 0, 3, 1]
  const pick = <T extends Uint32Array | Float32Array>(x: T, columns: number): T =>
    x.map((_, i) => x[order[Math.floor(i / columns)] * columns + (i % columns)]) as T
  load(ws, {
    ...BATCH,
    input_ids: pick(BATCH.input_ids, BATCH.width),
    attention_mask: pick(BATCH.attention_mask, BATCH.width),
    position_ids: pick(BATCH.position_ids, BATCH.width),
    response_ids: pick(BATCH.response_ids, BATCH.R),
    response_mask: pick(BATCH.response_mask, BATCH.R),
  })
  expect((await score(model, ws, 3)).log_probs).toEqual(pick(whole.log_probs, BATCH.R))

  const one = testBatch(LENGTHS.slice(0, 1), SIZE)
  const slice = sliceWorkspace(gpu, ws, 1)
  load(slice, one)
  const alone = await score(model, slice, 3)
  expect(alone.log_probs).toEqual(whole.log_probs.subarray(0, BATCH.R))
})

test('the side of the prompt padding and its amount change nothing', async () => {
  // Response tokens are predicted at column P-1+t, so the first is only comparable when the prompt
  // ends at P-1.
  const lengths = LENGTHS.map(({ response }) => ({ prompt: 3, response }))
  const tight = build(TINY, testBatch(lengths, { ...SIZE, P: 3 }))
  const wide = build(TINY, testBatch(lengths, { ...SIZE, P: 6 }))
  // The same tokens: both are drawn by place in the sequence from one table.
  const ids = testBatch(lengths, { ...SIZE, P: 3 })
  const padded = testBatch(lengths, { ...SIZE, P: 6 })
  lengths.forEach((_, b) => {
    padded.input_ids.set(ids.input_ids.subarray(b * 7, (b + 1) * 7), b * 10 + 3)
    padded.response_ids.set(ids.response_ids.subarray(b * 4, (b + 1) * 4), b * 4)
  })
  load(wide.ws, padded)
  const a = await score(tight.model, tight.ws, 3)
  const b = await score(wide.model, wide.ws, 3)
  expectClose(b.log_probs, a.log_probs, { atol: 2e-6, rtol: 2e-6 })
  // Right-padded prompts: the later response tokens see the gap between prompt and response.
  const right = testBatch(lengths, { ...SIZE, P: 6 }, 'right')
  lengths.forEach((_, row) => {
    right.input_ids.set(ids.input_ids.subarray(row * 7, row * 7 + 3), row * 10)
    right.input_ids.set(ids.input_ids.subarray(row * 7 + 3, row * 7 + 7), row * 10 + 6)
    right.response_ids.set(ids.response_ids.subarray(row * 4, (row + 1) * 4), row * 4)
  })
  load(wide.ws, right)
  const c = await score(wide.model, wide.ws, 3)
  const later = (x: Float32Array) => x.filter((_, i) => i % 4 > 0)
  expectClose(later(c.log_probs), later(a.log_probs), { atol: 2e-6, rtol: 2e-6 })
})

test('gradients of two half batches add up to those of the whole', async () => {
  const { model, grads, ws } = build(TINY, BATCH)
  const d = randomValues(16, 5).map((x, i) => x * BATCH.response_mask[i])
  const run = async (part: Workspace, rows: [number, number]) => {
    const cut = <T extends Uint32Array | Float32Array>(x: T, columns: number) =>
      x.subarray(rows[0] * columns, rows[1] * columns) as T
    load(part, {
      ...BATCH,
      input_ids: cut(BATCH.input_ids, BATCH.width),
      attention_mask: cut(BATCH.attention_mask, BATCH.width),
      position_ids: cut(BATCH.position_ids, BATCH.width),
      response_ids: cut(BATCH.response_ids, BATCH.R),
      response_mask: cut(BATCH.response_mask, BATCH.R),
    })
    await score(model, part, 3)
    gpu.write(part.response.d_log_probs, cut(d, BATCH.R))
    gpu.replay(
      await gpu.record('backward', [], (r) =>
        backward(r, model, grads, part, { layer: 3, inv_temperature: 1 }),
      ),
    )
  }
  await run(ws, [0, 4])
  const [whole] = await gpu.read(flatOf(grads))
  gpu.clear(flatOf(grads))
  const half = sliceWorkspace(gpu, ws, 2)
  await run(half, [0, 2])
  await run(half, [2, 4])
  const [halves] = await gpu.read(flatOf(grads))
  const scale = Math.max(...whole.map(Math.abs))
  expect(scale).toBeGreaterThan(0.1)
  expectClose(halves, whole, { atol: 1e-6 * scale, rtol: 1e-4 })
})
