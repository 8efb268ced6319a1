import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { headSplits } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelConfig } from '../layout/config.ts'
import { unpackWeights } from '../layout/params.ts'
import type { Readout } from '../layout/readout.ts'
import { translatorSize } from '../layout/translators.ts'
import { translatorViews } from '../params/lens_tensors.ts'
import { CONFIGS, flatOf, testBatch, testGradients, testModel, testWeights } from '../testing.ts'
import { backwardRef } from './backward.ref.ts'
import { backward } from './backward.ts'
import type { Model } from './model.ts'
import { policyRef } from './policy.ref.ts'
import { readPolicy } from './policy.ts'
import { uploadRows } from './rows.ts'
import { forwardRef } from './transformer.ref.ts'
import { forward } from './transformer.ts'
import { createWorkspace } from './workspace.ts'

const gpu = await Gpu.open()

const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
]
const LAYER = 2

function build(config: ModelConfig) {
  const { layout, flat, exact } = testWeights(config, 1)
  const { shape } = layout
  const { hidden_size: C, num_hidden_layers: L } = shape
  const batch = testBatch(LENGTHS, { P: 5, R: 4, vocab_size: config.vocab_size, seed: 7 })
  const lens = gpu.tensor('lens', 'f32', [L * translatorSize(C)])
  const tuned = translatorViews(gpu, lens, C, L)
  const ws = createWorkspace(gpu, shape, {
    rows: batch.rows,
    width: batch.width,
    response_length: batch.R,
    trains: true,
    headSplits: headSplits(batch.rows * batch.R, shape),
    hasLens: true,
  })
  uploadRows(gpu, ws, batch)
  const plain = testModel(gpu, layout, flat)
  return { layout, exact, batch, tuned, ws, plain, model: { ...plain, lenses: { tuned } } }
}

/** A translator of O(1) entries on the device, and the same in float64. */
function writeTranslator({ tuned, layout }: ReturnType<typeof build>) {
  const { hidden_size: C } = layout.shape
  const residual = randomValues(C * C, 31).map((x) => (0.5 * x) / Math.sqrt(C))
  const bias = randomValues(C, 32).map((x) => 0.3 * x)
  gpu.write(tuned[LAYER].residual, residual)
  gpu.write(tuned[LAYER].bias, bias)
  const matrix = Float64Array.from(residual, (w, i) => w + (i % (C + 1) === 0 ? 1 : 0))
  return { matrix, bias: Float64Array.from(bias) }
}

const scoring = ({ ws }: ReturnType<typeof build>, model: Model) =>
  async function score(readout: Readout) {
    const program = await gpu.record('score', [], (r) => {
      forward(r, model, ws, { layers: LAYER })
      readPolicy(r, model, ws, { layer: LAYER, inv_temperature: 1 / 0.8, readout })
    })
    gpu.replay(program)
    const [log_probs, entropy] = await gpu.read(ws.response.log_probs, ws.response.entropy)
    return { log_probs, entropy, dispatches: program.dispatches }
  }

test.for(CONFIGS)(
  '$model_type: a policy through a translator, and every gradient, equal float64',
  async (config) => {
    const built = build(config)
    const { layout, exact, batch, ws, model, tuned } = built
    const readout = writeTranslator(built)
    const scored = await scoring(built, model)('tuned')
    const cache = forwardRef(config, exact, batch, { layers: LAYER })
    const response = {
      response_ids: batch.response_ids,
      response_mask: batch.response_mask,
      first_column: batch.P - 1,
      response_length: batch.R,
      temperature: 0.8,
      readout,
    }
    const truth = policyRef(config, exact, cache, LAYER, response)
    expectClose(scored.log_probs, truth.log_probs, { atol: 2e-5, rtol: 2e-5 })
    expectClose(scored.entropy, truth.entropy, { atol: 2e-5, rtol: 2e-5 })

    const d_log_probs = randomValues(batch.response_mask.length, 3).map(
      (x, i) => x * batch.response_mask[i],
    )
    const d_entropy = d_log_probs.map((x) => 0.5 * x)
    gpu.write(ws.response.d_log_probs, d_log_probs)
    gpu.write(ws.response.d_entropy, d_entropy)
    const flat = gpu.tensor('d_lens', 'f32', [tuned.length * translatorSize(config.hidden_size)])
    const [translator] = translatorViews(gpu, flat, config.hidden_size, 1)
    const grads = { ...testGradients(gpu, layout), translator }
    const program = await gpu.record('backward', [], (r) =>
      backward(r, model, grads, ws, { layer: LAYER, inv_temperature: 1 / 0.8, readout: 'tuned' }),
    )
    gpu.replay(program)
    const [own] = await gpu.read(flatOf(grads))
    const named = unpackWeights(layout, own)
    const outputs = { ...response, d_log_probs, d_entropy }
    const expected = backwardRef(config, exact, cache, LAYER, outputs)
    const scale = Math.max(...Object.values(expected).flatMap((g) => [...g].map(Math.abs)))
    for (const { name } of layout.params)
      expectClose(named[name], expected[name] ?? named[name].map(() => 0), {
        atol: 3e-6 * scale,
        rtol: 1e-4,
      })

    // Of the translator, beside finite differences of the float64 policy.
    const [dResidual, d_bias] = await gpu.read(translator.residual, translator.bias)
    const value = (matrix: Float64Array, bias: Float64Array) => {
      const p = policyRef(config, exact, cache, LAYER, { ...response, readout: { matrix, bias } })
      return p.log_probs.reduce(
        (sum, lp, i) => sum + d_log_probs[i] * lp + d_entropy[i] * p.entropy[i],
        0,
      )
    }
    const along = (x: Float64Array, direction: ArrayLike<number>, step: number) =>
      x.map((v, i) => v + step * direction[i])
    const slopeOf = (at: (step: number) => number) => (at(1e-4) - at(-1e-4)) / 2e-4
    const { matrix, bias } = readout
    for (const [gradient, slope] of [
      [dResidual, slopeOf((h) => value(along(matrix, dResidual, h), bias))],
      [d_bias, slopeOf((h) => value(matrix, along(bias, d_bias, h)))],
    ] as const) {
      const square = gradient.reduce((sum, g) => sum + g * g, 0)
      expect(square).toBeGreaterThan(1e-3)
      expect(Math.abs(slope / square - 1)).toBeLessThan(1e-4)
    }
  },
)

test('a lens of zeros reads the bits of the final norm, and costs two dispatches where it is used alone', async () => {
  const built = build(CONFIGS[0])
  const [plain, withLens] = [built.plain, built.model].map((model) => scoring(built, model))
  const normed = await plain('normed')
  expect(await withLens('normed')).toEqual(normed)
  expect(await withLens('raw')).toEqual(await plain('raw'))
  const tuned = await withLens('tuned')
  expect(tuned.log_probs).toEqual(normed.log_probs)
  expect(tuned.entropy).toEqual(normed.entropy)
  expect(tuned.dispatches).toBe(normed.dispatches + 2)
  writeTranslator(built)
  expect((await withLens('tuned')).log_probs).not.toEqual(normed.log_probs)
  expect(await withLens('normed')).toEqual(normed)
  await expect(withLens('jacobian')).rejects.toThrow('expected a jacobian lens of layer 2')
})
