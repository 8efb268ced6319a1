import { describe, expect, test } from 'vitest'
import { createTask } from '../../../tasks/index.ts'
import { type Data, stepsPerEpoch } from '../../config/data.ts'
import { TrainingData } from './training_data.ts'

/** 80 training problems. */
const task = createTask('two_skills_addition', { digits: 1 })
const SEED = 5
const SET: Data = { train_max_samples: 10, shuffle: true }
const prompts = (samples: readonly { readonly prompt: string }[]) => samples.map((s) => s.prompt)
const theSet = (size: number) =>
  Array.from({ length: size }, (_, i) => task.sample(SEED, i, 'train_set').prompt)

test('without a set every draw is from all training problems, as it was before there were any', () => {
  const data = new TrainingData(SEED, task)
  const drawn = [...data.takeBatch(3), ...data.take(4), ...data.takeBatch(200)]
  expect(drawn).toEqual(Array.from({ length: 207 }, (_, i) => task.sample(SEED, i, 'train')))
  data.beginPhase()
  expect(data.sample_index).toBe(207)
  expect(data.epoch).toBeUndefined()
})

describe('a set', () => {
  test('every pass visits each problem once, in an order of its own', () => {
    const data = new TrainingData(SEED, task, SET)
    const passes = [0, 1, 2].map((epoch) => {
      const pass = prompts([...data.takeBatch(5), ...data.takeBatch(5)])
      expect(data.epoch).toBe(epoch)
      return pass
    })
    for (const pass of passes) expect(pass.toSorted()).toEqual(theSet(10).toSorted())
    expect(new Set(passes.map((pass) => pass.join())).size).toBe(3)
    const other = new TrainingData(SEED + 1, task, SET)
    expect(prompts(other.takeBatch(10))).not.toEqual(passes[0])
  })

  test('unshuffled, every pass is the set in its order', () => {
    const data = new TrainingData(SEED, task, { ...SET, shuffle: false })
    for (let epoch = 0; epoch < 3; epoch++) expect(prompts(data.takeBatch(10))).toEqual(theSet(10))
  })

  test('what does not fill a batch is left out of its pass, as with verl’s drop_last', () => {
    const data = new TrainingData(SEED, task, { ...SET, shuffle: false })
    const four = Array.from({ length: 5 }, () => prompts(data.takeBatch(4)))
    const [first, second] = [theSet(10).slice(0, 4), theSet(10).slice(4, 8)]
    expect(four).toEqual([first, second, first, second, first])
    expect(stepsPerEpoch(SET, 4)).toBe(2)
    expect(data.epoch).toBe(2)
  })

  test('a phase begins with a pass of its own, and one by one nothing is left out', () => {
    const data = new TrainingData(SEED, task, { ...SET, shuffle: false })
    data.takeBatch(3)
    data.beginPhase()
    expect(prompts(data.takeBatch(3))).toEqual(theSet(3))
    data.beginPhase()
    data.beginPhase()
    expect(data.sample_index).toBe(20)
    expect(prompts(data.take(12))).toEqual([...theSet(10), ...theSet(2)])
  })

  test('its place is its whole state: a run that continues from there draws the same', () => {
    const whole = new TrainingData(SEED, task, SET)
    for (let i = 0; i < 12; i++) {
      const moved = new TrainingData(SEED, task, SET)
      moved.sample_index = whole.sample_index
      expect(moved.takeBatch(4)).toEqual(whole.takeBatch(4))
      expect(moved.epoch).toBe(whole.epoch)
    }
  })

  test('a batch larger than it is an error', () => {
    const data = new TrainingData(SEED, task, SET)
    expect(() => data.takeBatch(11)).toThrow('at most 10 problems (train_max_samples), got 11')
  })
})
