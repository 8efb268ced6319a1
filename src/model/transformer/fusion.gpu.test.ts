// A training pass with steps fused into matrix products, against the same pass without.

import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { dispatchesOf } from '../../kernels/device/testing.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelConfig } from '../layout/config.ts'
import { unpackWeights } from '../layout/params.ts'
import {
  CONFIGS,
  flatOf,
  TINY,
  testBatch,
  testGradients,
  testModel,
  testWeights,
} from '../testing.ts'
import { backward } from './backward.ts'
import type { Fusion, Model } from './model.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

const gpu = await Gpu.open()
const L = TINY.num_hidden_layers
const P = 5
const R = 4
const OFF: Fusion = { swiglu: false, biasGradient: false }

/** Log-probs and gradients of one pass over rows of different lengths, and its dispatches. */
async function pass(config: ModelConfig, options: Pick<Model, 'fusion' | 'matmul'>, rows = 4) {
  const lengths = Array.from({ length: rows }, (_, i) => ({ prompt: 1 + i, response: R - (i % 3) }))
  const batch = testBatch(lengths, { P, R, vocab_size: config.vocab_size, seed: 7 })
  const { layout, flat } = testWeights(config, 1)
  const { shape } = layout
  const model = testModel(gpu, layout, flat, options)
  const grads = testGradients(gpu, layout)
  const ws = createWorkspace(gpu, shape, {
    rows,
    width: P + R,
    response_length: R,
    trains: true,
    headSplits: headSplits(rows * R, shape),
  })
  uploadRows(gpu, ws, batch)
  const given = randomValues(rows * R, 3).map((x, i) => x * batch.response_mask[i])
  gpu.write(ws.response.d_log_probs, given)
  const program = await gpu.record('pass', [], (r) => {
    forward(r, model, ws)
    readPolicy(r, model, ws, { layer: L, inv_temperature: 1 })
    backward(r, model, grads, ws, { layer: L, inv_temperature: 1 })
  })
  gpu.replay(program)
  const [log_probs, gradients] = await gpu.read(ws.response.log_probs, flatOf(grads))
  expect(gradients.some((g) => g !== 0)).toBe(true)
  const count = (kernel: RegExp) =>
    dispatchesOf(program).filter((each) => kernel.test(each.kernel.name)).length
  const named = unpackWeights(layout, gradients)
  return { log_probs, gradients, named, count, dispatches: program.dispatches }
}

const isBias = (name: string) => /_proj\.bias$/.test(name)

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  '%s: a fused pass has the bits of one that is not, but for the rounding of bias gradients',
  async ([, config]) => {
    const on = await pass(config, {})
    const off = await pass(config, { fusion: OFF })
    expect(on.log_probs).toEqual(off.log_probs)
    for (const [name, gradient] of Object.entries(off.named)) {
      if (!isBias(name)) expect(on.named[name], name).toEqual(gradient)
      // 36 tokens in another order: a few roundings of the largest partial sum.
      else
        expectClose(on.named[name], gradient, { atol: 1e-6 * Math.max(...gradient.map(Math.abs)) })
    }
    expect(Object.keys(off.named).some(isBias)).toBe(config.model_type === 'qwen2')
  },
)

/** Which products take a step in depends on their kernels: these are the default ones. */
const passOnDefaults = (config: ModelConfig, fusion?: Fusion) =>
  pass(config, { matmul: {}, fusion })

test('each part is on unless it is turned off, and saves its dispatches in every block', async () => {
  const qwen2 = CONFIGS.find(({ model_type }) => model_type === 'qwen2') as ModelConfig
  const off = await passOnDefaults(qwen2, OFF)
  expect(off.count(/swiglu_forward|swiglu_backward/)).toBe(2 * L)
  expect(off.count(/matmul_.*_(swiglu|bias)_/)).toBe(0)
  const swiglu = await passOnDefaults(qwen2, { swiglu: true, biasGradient: false })
  expect(swiglu.count(/^swiglu_/)).toBe(0)
  expect(swiglu.count(/matmul_(nt|nn)_swiglu_/)).toBe(2 * L)
  expect(swiglu.count(/matmul_tn_bias_/)).toBe(0)
  expect(swiglu.gradients).toEqual(off.gradients)
  const bias = await passOnDefaults(qwen2, { swiglu: false, biasGradient: true })
  expect(bias.count(/matmul_tn_bias_/)).toBe(L)
  expect(bias.count(/matmul_.*_swiglu_/)).toBe(0)
  const all = await passOnDefaults(qwen2)
  expect([swiglu, bias, all].map(({ dispatches }) => off.dispatches - dispatches)).toEqual([
    2 * L,
    L,
    3 * L,
  ])
  expect((await passOnDefaults(TINY)).count(/matmul_tn_bias_/)).toBe(0)
})

test('a tuner’s choice holds for the fused products, and where it has none the pair runs', async () => {
  const chosen = await pass(TINY, { matmul: { '*': 'vector_4x4' } })
  expect(chosen.count(/^matmul_(nt|nn)_swiglu_vector_4x4$/)).toBe(2 * L)
  expect(chosen.count(/^swiglu_/)).toBe(0)
  const without = await pass(TINY, { matmul: { '*': 'register_8x8' } })
  expect(without.count(/_swiglu_/)).toBe(0)
  expect(without.count(/^swiglu_(forward|backward)$/)).toBe(2 * L)
  // One choice for gate_up alone: k 20, n 56, 36 tokens.
  const one = await pass(TINY, { matmul: { nt_m64_n56_k20: 'register_8x8' } })
  expect([one.count(/^swiglu_forward$/), one.count(/^swiglu_backward$/)]).toEqual([L, 0])
})

test('widths without whole vectors of four, and few tokens, take the pair', async () => {
  const odd = { ...TINY, intermediate_size: 27 }
  const passOdd = await passOnDefaults(odd)
  // gate_up needs vectors along hidden_size only.
  expect([passOdd.count(/^swiglu_forward$/), passOdd.count(/^swiglu_backward$/)]).toEqual([0, L])
  expect(passOdd.gradients).toEqual((await passOnDefaults(odd, OFF)).gradients)
  const short = await passOnDefaults({ ...TINY, hidden_size: 18 })
  expect(short.count(/^swiglu_/)).toBe(2 * L)
})
