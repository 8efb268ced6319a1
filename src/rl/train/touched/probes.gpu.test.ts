// Tests what linear probes find in a model, and what they refuse before a device is asked for.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { createTask } from '../../../tasks/index.ts'
import { CONFIG, RL } from '../../testing.ts'
import type { ProbeWork } from './probes.ts'
import { type Given, type OpenTouch, type Touchable, touchModels } from './touch.ts'

const config = {
  ...CONFIG,
  task: createTask('two_skills_addition', { digits: 2 }),
  model: { ...CONFIG.model, hidden_size: 32 },
  phases: [RL],
}
const layout = paramLayout(modelShape(config.model))
const model = (step: number): Touchable => ({ step, config, weights: initialWeights(layout, step) })
const WORK = { property: 'carry', problems: 80, seed: 3, l2: 1 }

async function probe(
  work: Partial<ProbeWork>,
  models: readonly Given<Touchable>[],
  open: OpenTouch = () => Gpu.open(),
) {
  const touched = await touchModels(open, { what: 'probes', ...WORK, ...work }, models, () => {})
  if (touched.what !== 'probes') throw new Error('expected probes')
  return touched.probes
}

test('what a token’s own state cannot know is found only where attention has brought it', async () => {
  let inMemory = 0
  const next = async () => {
    inMemory++
    return model(8)
  }
  const found = await probe({}, [model(7), next])
  expect(inMemory).toBe(1)
  expect(found).toMatchObject({ problems: { fitted: 40, held_out: 40 }, property: 'carry' })
  expect(found.problems.tokens).toBeUndefined()
  expect(found.states.map(({ step }) => step)).toEqual([7, 8])
  for (const { layers, commonest } of found.states) {
    expect(layers).toHaveLength(layout.shape.num_hidden_layers + 1)
    // Every prompt ends with the same token, so its embedding says nothing.
    expect(layers[0].accuracy.mean).toBeCloseTo(commonest, 12)
    expect(layers[0].gain).toEqual({ mean: 0, interval: 0 })
  }
  // The next token depends on the last one, which the embedding holds.
  const tokens = await probe({ property: 'next_token' }, [model(7)])
  const [{ layers }] = tokens.states
  expect(tokens.problems.tokens).toBeGreaterThan(tokens.problems.held_out)
  expect(layers[0].gain.mean).toBeGreaterThan(layers[0].gain.interval)
  expect(layers[0].fitted).toBeGreaterThan(layers[0].control.mean)
  expect(await probe({ property: 'next_token' }, [model(7)])).toEqual(tokens)
  const other = await probe({ property: 'next_token', seed: 4 }, [model(7)])
  expect(other.states[0].layers).not.toEqual(layers)
})

test('a model that answers nothing right has no such property, which is said of each state', async () => {
  await expect(probe({ property: 'right' }, [model(7)])).rejects.toThrow(
    'All 80 problems have the same value, “wrong”',
  )
})

test('what cannot be probed is refused before a device is asked for', async () => {
  const none = () => Promise.reject(new Error('asked for a device'))
  await expect(probe({ problems: 10 }, [model(7)], none)).rejects.toThrow(
    'Expected at least 20 held-out problems to fit probes on half of them, got 10',
  )
  await expect(probe({ property: 'colour' }, [model(7)], none)).rejects.toThrow(
    'property: expected one of right, next_token, carry, got colour',
  )
  const small = { ...config, task: createTask('gcd', { max_value: 40 }) }
  await expect(
    probe({ property: 'coprime', problems: 21 }, [{ ...model(7), config: small }], none),
  ).rejects.toThrow('A probe needs at least 5 problems of each of two values')
})
