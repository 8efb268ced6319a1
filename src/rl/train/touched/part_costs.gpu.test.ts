// Tests what switching parts off costs, on a model that has learned its task.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { partsOf } from '../../../model/interventions/parts.ts'
import { requireSameShape } from '../../../model/interventions/transplant.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { CONFIG, RL } from '../../testing.ts'
import { HeldOut } from './answers/held_out.ts'
import { type Touchable, touchModels } from './touch.ts'

const config = { ...CONFIG, phases: [RL] }
const layout = paramLayout(modelShape(config.model))
const weights = initialWeights(layout, 3)
const PROBLEMS = 6
const open = () => Gpu.open()

async function touchParts(model: Touchable, onProgress: (done: number, of: number) => void) {
  const touched = await touchModels(
    open,
    { what: 'parts', problems: PROBLEMS },
    [model],
    onProgress,
  )
  if (touched.what !== 'parts') throw new Error('expected the costs of parts')
  return touched.costs
}

test('a part that is off changes the layers from its own on, and none below; nothing changes the rest', async () => {
  const done: number[] = []
  const model = { step: 7, config, weights }
  const costs = await touchParts(model, (at, of) => done.push(at / of))
  const { num_hidden_layers: L } = layout.shape
  expect(done).toHaveLength(partsOf(layout.shape).length)
  expect(done.at(-1)).toBe(1)
  expect(
    costs.parts.map(({ where, layer, head }) => ({
      where,
      layer,
      ...(head !== undefined && { head }),
    })),
  ).toEqual(partsOf(layout.shape))
  expect(costs.untouched.entropies).toHaveLength(L + 1)
  expect(costs.untouched.log_prob).toBeLessThan(0)
  for (const { layer, where, entropies, log_prob } of costs.parts) {
    for (let l = 0; l < layer; l++)
      expect(entropies[l], `${where} ${layer}, layer ${l}`).toEqual({ mean: 0, interval: 0 })
    expect(Math.abs(entropies[layer].mean)).toBeGreaterThan(0)
    expect(Number.isFinite(log_prob?.mean)).toBe(true)
  }
  // Room for changes that are not made changes no answer.
  const gpu = await Gpu.open()
  const plain = await HeldOut.create(gpu, config, layout, PROBLEMS)
  const right = await plain.right(weights)
  gpu.destroy()
  expect(costs.problems).toBe(right.length)
})

test('two states exchange their parts both ways round', async () => {
  const other = { step: 9, config, weights: initialWeights(layout, 4) }
  requireSameShape(layout, layout)
  const models = [{ step: 7, config, weights }, other]
  const touched = await touchModels(
    open,
    { what: 'exchange', problems: PROBLEMS, other: 'another run' },
    models,
    () => {},
  )
  if (touched.what !== 'exchange') throw new Error('expected an exchange')
  const [there, back] = touched.exchanges
  expect([there.host, there.donor]).toEqual(['this run (step 7)', 'another run (step 9)'])
  expect([back.host, back.donor]).toEqual([there.donor, there.host])
  expect(there.mixtures.at(-1)).toMatchObject({
    name: 'everything',
    accuracy: there.accuracy.donor,
  })
  await expect(
    touchParts({ ...other, config: { ...config, tools: {} as never } }, () => {}),
  ).rejects.toThrow('this run calls tools')
})
