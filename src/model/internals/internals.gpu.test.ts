import { describe, expect, test } from 'vitest'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { type ModelConfig, modelShape } from '../layout/config.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import type { Model } from '../transformer/model.ts'
import { readPolicy } from '../transformer/policy.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { forward } from '../transformer/transformer.ts'
import { createWorkspace, sliceWorkspace, type Workspace } from '../transformer/workspace.ts'
import { QUANTITY_NAMES, type Quantity, tokenMeans } from './internal_quantities.ts'
import { internalsRef } from './internals.ref.ts'
import { recordInternals } from './internals.ts'
import { createInternals, readInternals, uploadInternals } from './internals_tensors.ts'

const gpu = await Gpu.open()

type Batch = ReturnType<typeof testBatch>

const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
  { prompt: 4, response: 3 },
]
const BATCH = testBatch(LENGTHS, { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 })
/** f32 through three blocks: a few ulp of logits up to about 20, and of lengths. */
const ROUNDING = { atol: 3e-5, rtol: 2e-5 }

function build(config: ModelConfig, batch: Batch, trains = false) {
  const { layout, flat, exact } = testWeights(config, 1)
  const { shape } = layout
  const model = testModel(gpu, layout, flat)
  const { rows, width, R: response_length } = batch
  const ws = createWorkspace(gpu, shape, { rows, width, response_length, trains })
  return { exact, shape, model, ws }
}

async function probe<const Q extends Quantity>(
  model: Model,
  ws: Workspace,
  quantities: readonly Q[],
  positions: 'all' | 'response' = 'all',
  batch: Batch = BATCH,
  layer = 1,
) {
  const t = createInternals(gpu, model.shape, ws, { quantities, positions, layer })
  uploadInternals(gpu, t, batch)
  const program = await gpu.record('internals', [], (r) => recordInternals(r, model, t))
  gpu.replay(program)
  return { ...(await readInternals(gpu, t)), dispatches: program.dispatches }
}

describe.for(CONFIGS.map((config, i) => [`${config.model_type} ${i}`, config] as const))(
  '%s',
  ([, config]) => {
    const { exact, model, ws } = build(config, BATCH)
    const cache = forwardRef(config, exact, BATCH)

    test('every quantity at every position equals the float64 model', async () => {
      const { values, mask, nextMask } = await probe(model, ws, QUANTITY_NAMES)
      const truth = internalsRef(config, exact, cache, { positions: 'all', layer: 1 })
      expectClose(mask, truth.mask)
      expectClose(nextMask, truth.nextMask)
      for (const name of QUANTITY_NAMES) expectClose(values[name], truth.values[name], ROUNDING)
    })

    test('the response’s positions equal the float64 model', async () => {
      const response = {
        ...BATCH,
        positions: 'response' as const,
        response_length: BATCH.R,
        layer: 1,
      }
      const { values, mask } = await probe(model, ws, QUANTITY_NAMES, 'response')
      const truth = internalsRef(config, exact, cache, response)
      expectClose(mask, BATCH.response_mask)
      for (const name of QUANTITY_NAMES) expectClose(values[name], truth.values[name], ROUNDING)
      const means = tokenMeans({ ...truth, mask, nextMask: mask, values })
      const expected = tokenMeans(truth)
      expect(Object.keys(means)).toHaveLength(QUANTITY_NAMES.length - 2)
      for (const [name, mean] of Object.entries(means))
        expectClose(mean, expected[name as keyof typeof expected] ?? [], ROUNDING)
    })
  },
)

const { exact: weights, shape, model, ws } = build(TINY, BATCH, true)

test('a divergence is measured from the layer that was chosen, and is 0 there', async () => {
  const cache = forwardRef(TINY, weights, BATCH)
  const N = BATCH.attention_mask.length
  for (const layer of [0, 3]) {
    const { values } = await probe(model, ws, ['kl_of_layer'], 'all', BATCH, layer)
    const truth = internalsRef(TINY, weights, cache, { positions: 'all', layer })
    expectClose(values.kl_of_layer, truth.values.kl_of_layer, ROUNDING)
    const own = values.kl_of_layer.subarray(layer * N, (layer + 1) * N)
    expect(own.every((kl) => kl === 0)).toBe(true)
  }
  const options = { quantities: ['kl_of_layer'], positions: 'all', layer: 4 } as const
  expect(() => createInternals(gpu, shape, ws, options)).toThrow(/layer: expected 0 to 3, got 4/)
})

test('what is shown is what is trained, to the bit', async () => {
  const names = [
    ...(['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer'] as const),
    'logp_next_layer_norm' as const,
  ]
  const { values } = await probe(model, ws, names, 'response')
  const N = BATCH.response_mask.length
  for (let l = 0; l <= 3; l++) {
    const program = await gpu.record('score', [], (r) => {
      forward(r, model, ws, { layers: l })
      readPolicy(r, model, ws, { layer: l, inv_temperature: 1 })
    })
    gpu.replay(program)
    const [logProbs, entropy] = await gpu.read(ws.response.log_probs, ws.response.entropy)
    const of = (name: (typeof names)[number]) => values[name].subarray(l * N, (l + 1) * N)
    expect(of(l < 3 ? 'ent_layer_raw' : 'ent_layer_norm')).toEqual(entropy)
    expect(of(l < 3 ? 'logp_next_layer' : 'logp_next_layer_norm')).toEqual(logProbs)
  }
})

test('a quantity alone has the same bits as among all, and costs fewer dispatches', async () => {
  const all = await probe(model, ws, QUANTITY_NAMES)
  for (const name of QUANTITY_NAMES) {
    const alone = await probe(model, ws, [name])
    expect(alone.values[name], name).toEqual(all.values[name])
    expect(Object.keys(alone.values)).toEqual([name])
    expect(alone.dispatches).toBeLessThan(all.dispatches)
  }
})

test('response positions are the columns before the tokens, in a slice of a workspace too', async () => {
  const names = ['ent_ffn_out', 'cos_attn', 'kl_layer_final', 'logp_next_layer'] as const
  const all = await probe(model, ws, names)
  const slice = sliceWorkspace(gpu, ws, 2)
  const { width, P, R, response_mask } = BATCH
  const first = {
    ...BATCH,
    input_ids: BATCH.input_ids.subarray(0, 2 * width),
    attention_mask: BATCH.attention_mask.subarray(0, 2 * width),
    position_ids: BATCH.position_ids.subarray(0, 2 * width),
    response_ids: BATCH.response_ids.subarray(0, 2 * R),
    response_mask: response_mask.subarray(0, 2 * R),
  }
  const two = await probe(model, slice, names, 'response', first)
  expect([two.rows, two.columns]).toEqual([2, R])
  for (const name of names) {
    const entries = all.values[name].length / (3 * width)
    for (let entry = 0; entry < entries; entry++)
      for (let i = 0; i < 2 * R; i++) {
        const column = P - 1 + (i % R)
        const expected = all.values[name][(entry * 3 + Math.floor(i / R)) * width + column]
        expect(two.values[name][entry * 2 * R + i]).toBe(response_mask[i] ? expected : 0)
      }
  }
})

test.for(['left', 'right'] as const)('padding on the %s changes no real position', async (side) => {
  // One row of four tokens, alone and beside three columns of padding full of another token.
  const row = testBatch([{ prompt: 4, response: 0 }], {
    P: 4,
    R: 1,
    vocab_size: TINY.vocab_size,
    seed: 3,
  })
  const tight = { ...row, ...cut(row, 0, 4) }
  const start = side === 'left' ? 3 : 0
  const padded = { ...row, width: 7, ...place(tight, start) }
  const a = build(TINY, tight)
  const b = build(TINY, padded)
  const names = QUANTITY_NAMES.filter((name) => !name.startsWith('logits'))
  const alone = await probe(a.model, a.ws, names, 'all', tight)
  const beside = await probe(b.model, b.ws, names, 'all', padded)
  for (const name of names) {
    const entries = alone.values[name].length / 4
    const inside = Array.from({ length: entries }, (_, entry) => [
      ...beside.values[name].subarray(entry * 7 + start, entry * 7 + start + 4),
    ])
    // The rotation by position and the sums over keys are the same; only their tiling may differ.
    expectClose(inside.flat(), alone.values[name], { atol: 2e-6, rtol: 2e-6 })
    const outside = beside.values[name].filter((_, i) => i % 7 < start || i % 7 >= start + 4)
    expect(outside.every((x) => x === 0)).toBe(true)
  }
})

const cut = (batch: Batch, from: number, to: number) => ({
  width: to - from,
  R: 0,
  response_ids: new Uint32Array(),
  response_mask: new Float32Array(),
  input_ids: batch.input_ids.slice(from, to),
  attention_mask: batch.attention_mask.slice(from, to),
  position_ids: batch.position_ids.slice(from, to),
})

const place = (batch: Batch, start: number) => {
  const at = (x: Uint32Array, fill: number) => {
    const wide = new Uint32Array(7).fill(fill)
    wide.set(x, start)
    return wide
  }
  return {
    input_ids: at(batch.input_ids, 1),
    attention_mask: at(batch.attention_mask, 0),
    position_ids: at(batch.position_ids, 0),
  }
}

test('memory is asked for only where a quantity needs it, and is known before', () => {
  const bytes = (...quantities: Quantity[]) => {
    const options = { quantities, positions: 'response' } as const
    const plan = new MemoryPlan()
    createInternals(plan, modelShape(TINY), ws, options)
    const before = gpu.counts.live_bytes
    createInternals(gpu, shape, ws, options)
    expect(gpu.counts.live_bytes - before).toBe(plan.total())
    return plan.bytes.scratch
  }
  const N = BATCH.response_mask.length
  expect(bytes('dH_layer')).toBe(bytes('ent_layer_raw'))
  const kept = 4 * 4 * N * TINY.hidden_size
  expect(bytes('kl_final_layer') - bytes('ent_layer_raw')).toBe(kept)
  // The room of no value is one number that nobody reads: WebGPU has no empty buffers.
  expect(bytes('logits') - bytes()).toBe(4 * N * TINY.vocab_size)
})
