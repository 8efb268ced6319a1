// What touches a model (lenses, probes, steering, switching parts off, patching) on SmolLM2-135M's
// shape with random weights, where LONG_TESTS is set: of maps the first, a middle and the last
// layer, because a software adapter needs a second for a pass. touched_memory plans the whole.
import { expect, test } from 'vitest'
import { MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { normalValues } from '../../../kernels/sampling/philox.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { jacobianLens } from '../../../model/layout/translators.ts'
import { createJacobianTensors, JacobianFit } from '../../../model/lenses/jacobian_fit.ts'
import { modelHash, writeLens } from '../../../model/lenses/lens_file.ts'
import { lensRows } from '../../../model/lenses/lens_rows.ts'
import { createModel, uploadModel } from '../../../model/transformer/model.ts'
import { type OpenTouch, type Touched, type TouchWork, touchModels } from '../touched/touch.ts'
import { SHAPES, TOUCHES, touchedConfig } from './testing.ts'

const longTest = test.skipIf(!process.env.LONG_TESTS)
const SHAPE = SHAPES['135m']
const { num_hidden_layers: L, num_attention_heads: H } = SHAPE
/** A software adapter may take this long for a second's work of a GPU. */
const TIMEOUT = 100 * 60_000
const PIECE = 2 ** 22
/** Of the stream: the embedding, a middle one and the last. */
const LAYERS = [0, L / 2, L]
/** Of the last state, whose Jacobian is taken: each is a pass back through all blocks. */
const COORDINATES = 4

/** Seeded values, each piece the same. */
function randomWeights(): Float32Array {
  const { size } = paramLayout(modelShape(SHAPE))
  const piece = normalValues(PIECE, 0.05, [1, 1], 0)
  const weights = new Float32Array(size)
  for (let at = 0; at < size; at += PIECE)
    weights.set(piece.subarray(0, Math.min(PIECE, size - at)), at)
  return weights
}

const madeModel = () => ({ step: 0, config: touchedConfig(SHAPE), weights: randomWeights() })

async function touched<W extends TouchWork>(
  work: W,
  model = madeModel(),
): Promise<Extract<Touched, { what: W['what'] }>> {
  const start = performance.now()
  let planned = 0
  const open: OpenTouch = (plan) => {
    planned = plan.total()
    return Gpu.open({ largest: plan.largest })
  }
  const found = await touchModels(open, work, [model], () => {})
  console.log(
    `${work.what}: ${((performance.now() - start) / 1000).toFixed(0)} s, ${(planned / 1e9).toFixed(2)} GB planned`,
  )
  return found as Extract<Touched, { what: W['what'] }>
}

longTest(
  'a tuned lens is fitted, and every layer read in every way',
  { timeout: TIMEOUT },
  async () => {
    const model = madeModel()
    const shape = modelShape(SHAPE)
    // One that leaves states as they are; its fit is tested below.
    const { hidden_size: C } = SHAPE
    const identity = Float32Array.from({ length: C * C }, (_, i) => Number(i % (C + 1) === 0))
    const lens = jacobianLens(C, new Array<Float32Array>(L).fill(identity))
    const bytes = writeLens(lens, { shape, hash: modelHash(model.weights) })
    const work = {
      what: 'readings',
      settings: { ...TOUCHES.readings.settings, texts: 1, steps: 1 },
      lenses: [{ name: 'jacobian.safetensors', bytes }],
    } as const
    const { readings, files } = await touched(work, model)
    expect(readings.layers).toHaveLength(4 * L + 1)
    for (const { kl } of readings.layers) expect(kl).toBeGreaterThan(-1e-4)
    expect(files.map(({ name }) => name)).toEqual(['tuned.safetensors', 'jacobian.safetensors'])
  },
)

longTest('a Jacobian reaches every layer', { timeout: TIMEOUT }, async () => {
  const layout = paramLayout(modelShape(SHAPE))
  const rows = lensRows([[5, 9, 7]], { rows: 1, width: 3 })
  const plan = new MemoryPlan()
  createModel(plan, layout)
  createJacobianTensors(plan, layout.shape, rows)
  const gpu = await Gpu.open({ largest: plan.largest })
  const onDevice = createModel(gpu, layout)
  uploadModel(gpu, onDevice, randomWeights())
  const fit = await JacobianFit.create(gpu, onDevice, rows)
  fit.begin()
  await fit.add(rows, { skip_first: 0, contexts: 1, coordinates: COORDINATES })
  const found = await fit.read()
  gpu.destroy()
  expect(found).toHaveLength(L)
  const { hidden_size: C } = SHAPE
  for (const jacobian of found)
    for (let coordinate = 0; coordinate < COORDINATES; coordinate++) {
      const size = Math.hypot(...jacobian.subarray(coordinate * C, (coordinate + 1) * C))
      expect(size).toBeGreaterThan(0)
      expect(size).toBeLessThan(Number.POSITIVE_INFINITY)
    }
})

longTest('probes are fitted at every layer', { timeout: TIMEOUT }, async () => {
  const { probes } = await touched(TOUCHES.probes)
  expect(probes.states[0].layers).toHaveLength(L + 1)
})

longTest('a direction is made of every layer and added', { timeout: TIMEOUT }, async () => {
  const { steering } = await touched({ ...TOUCHES.steering, problems: 1, layers: [L / 2] })
  expect(steering.vectors).toHaveLength(L + 1)
  expect(steering.effects.map(({ layer }) => layer)).toEqual([L / 2])
})

longTest('parts are switched off', { timeout: TIMEOUT }, async () => {
  const { costs } = await touched({ ...TOUCHES.parts, layers: [L] })
  expect(costs.parts).toHaveLength(H + 3)
})

longTest('states are carried over', { timeout: TIMEOUT }, async () => {
  const { patching } = await touched({ ...TOUCHES.patching, layers: LAYERS })
  expect(patching.places).toHaveLength(1 + 2 * (H + 3))
})
