// A run whose kernels change between two steps: it is repeated by its document, and continues from
// its states. Here, because lab may not load the GPU side.
import { expect, test } from 'vitest'
import { writeKernels } from '../../../document/experiment/fields/pinned_kernels.ts'
import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { TINY, tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { SteeredRun } from '../../../host/worker/base/steered_run.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { matmulVariant, shapeClass } from '../../../kernels/matmul/matmul_variants.ts'
import { steeredEngine } from '../../../rl/train/engine.ts'
import { runProducts } from '../../../rl/train/tuning.ts'
import { run } from './testing.ts'

const document = tinyExperiment({
  // The entropy moves the policy, even where no response is right.
  actor: { ...TINY.actor, entropy_coeff: 0.1 },
  phases: [
    { kind: 'sft', steps: 2 },
    { kind: 'rl', steps: 2 },
  ],
  validation: { test_freq: null },
})
/** Its gradients of weights are summed in another order than those of the defaults. */
const other = matmulVariant('register_8x8')
const kernels = writeKernels(
  Object.fromEntries(
    runProducts(trainerConfig(document))
      .filter((product) => other.supports(product.op, product))
      .map((product) => [shapeClass(product.op, product), other.name]),
  ),
)
const change = { kind: 'kernels', kernels } as const

test('kernels that change at a step leave the steps before it alone; the document and its link repeat the run to the bit', async () => {
  const plain = await run(document)
  const changed = await run(document, { 2: [change] })
  expect(changed.rebuilds).toBe(1)
  expect(changed.results.slice(0, 3)).toEqual(plain.results.slice(0, 3))
  expect(changed.weights).not.toEqual(plain.weights)
  const distance = Math.max(...changed.weights.map((w, i) => Math.abs(w - plain.weights[i])))
  expect(distance).toBeLessThan(1e-3)

  const [{ steering }] = changed.done
  expect(steering).toEqual([{ step: 2, ...change }])
  const again = await run(decodeLink(encodeLink({ ...document, steering })).experiment)
  expect(again.weights).toEqual(changed.weights)
  expect(again.results).toEqual(changed.results)

  // A state after the change continues on the changed kernels.
  const gpu = await Gpu.open()
  const engine = steeredEngine(gpu, undefined)
  const first = await SteeredRun.begin(engine, { ...document, steering })
  while (first.step < 3) {
    await first.obey()
    await (await first.queue()).result
  }
  const state = await first.exportState()
  gpu.freeAll()
  const second = await SteeredRun.resume(engine, state)
  await (await second.queue()).result
  expect((await second.exportState()).trainer.actor.weights).toEqual(changed.weights)
  gpu.destroy()
})

test('kernels that this adapter lacks are refused', async () => {
  const gpu = await Gpu.open()
  const bare = Object.create(gpu, { facts: { value: { ...gpu.facts, features: [] } } })
  const engine = steeredEngine(bare, undefined)
  const matmul = { nn_m1_n1_k1: 'subgroups_16x16' }
  expect(engine.refusal({ ...trainerConfig(document), matmul })).toBe(
    'kernels: this adapter lacks subgroups',
  )
  gpu.destroy()
})
