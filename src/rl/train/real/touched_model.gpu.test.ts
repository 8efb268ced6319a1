// What touches a model (lenses, probes, steering, switching parts off, patching) on SmolLM2-135M's
// shape with random weights, where LONG_TESTS is set; what it takes is planned in touched_memory.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { normalValues } from '../../../kernels/sampling/philox.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { type OpenTouch, type Touched, type TouchWork, touchModels } from '../touched/touch.ts'
import { SHAPES, TOUCHES, touchedConfig } from './testing.ts'

const longTest = test.skipIf(!process.env.LONG_TESTS)
const SHAPE = SHAPES['135m']
const { num_hidden_layers: L, num_attention_heads: H } = SHAPE
/** A software adapter may take this long for a second's work of a GPU. */
const TIMEOUT = 100 * 60_000
const PIECE = 2 ** 22

/** Seeded values, each piece the same. */
function randomWeights(): Float32Array {
  const { size } = paramLayout(modelShape(SHAPE))
  const piece = normalValues(PIECE, 0.05, [1, 1], 0)
  const weights = new Float32Array(size)
  for (let at = 0; at < size; at += PIECE)
    weights.set(piece.subarray(0, Math.min(PIECE, size - at)), at)
  return weights
}

async function touched<K extends TouchWork['what']>(
  what: K,
): Promise<Extract<Touched, { what: K }>> {
  const start = performance.now()
  let planned = 0
  const open: OpenTouch = (plan) => {
    planned = plan.total()
    return Gpu.open({ largest: plan.largest })
  }
  const model = { step: 0, config: touchedConfig(SHAPE), weights: randomWeights() }
  const found = await touchModels(open, TOUCHES[what], [model], () => {})
  console.log(
    `${what}: ${((performance.now() - start) / 1000).toFixed(0)} s, ${(planned / 1e9).toFixed(2)} GB planned`,
  )
  return found as Extract<Touched, { what: K }>
}

longTest('a lens reads every layer', { timeout: TIMEOUT }, async () => {
  const { readings, files } = await touched('readings')
  expect(readings.layers).toHaveLength(4 * L + 1)
  for (const { kl } of readings.layers) expect(kl).toBeGreaterThan(-1e-4)
  expect(files.map(({ name }) => name)).toEqual(['tuned.safetensors', 'jacobian.safetensors'])
})

longTest('probes are fitted at every layer', { timeout: TIMEOUT }, async () => {
  const { probes } = await touched('probes')
  expect(probes.states[0].layers).toHaveLength(L + 1)
})

longTest('a direction is added after every layer', { timeout: TIMEOUT }, async () => {
  const { steering } = await touched('steering')
  expect(steering.effects).toHaveLength(L + 1)
})

longTest('every part is switched off', { timeout: TIMEOUT }, async () => {
  const { costs } = await touched('parts')
  expect(costs.parts).toHaveLength(L * (H + 3))
})

longTest('states are carried over at every place', { timeout: TIMEOUT }, async () => {
  const { patching } = await touched('patching')
  expect(patching.places).toHaveLength(L + 1 + L * (H + 2))
})
