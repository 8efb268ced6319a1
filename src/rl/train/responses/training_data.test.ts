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

/** All responses to these places, each with this share of right ones. */
const answered = (
  places: readonly number[],
  rate: (problem: string) => number,
  data: TrainingData,
) => places.map((place) => ({ place, rate: rate(data.at(place).prompt) }))

describe('a curriculum', () => {
  const levels = [1, 2, 3].map((digits) => ({
    value: digits,
    task: createTask('two_skills_addition', { digits }),
  }))
  const curriculum = { param: 'digits', start: 1, advance_at: 0.75 }
  const make = () =>
    new TrainingData(
      SEED,
      levels[2].task,
      { train_max_samples: null, shuffle: true, curriculum },
      levels,
    )
  const digits = (data: TrainingData, places: readonly number[]) =>
    places.map((place) => data.at(place).prompt.indexOf('+'))

  test('rises where enough responses are right, and no higher than the task', () => {
    const data = make()
    const seen = [0.5, 0.75, 0.74, 1, 1, 0].map((rate) => {
      const places = data.takePlaces(4)
      const { 'curriculum/value': value } = data.learn(answered(places, () => rate, data))
      expect(new Set(digits(data, places))).toEqual(new Set([value]))
      return value
    })
    expect(seen).toEqual([1, 1, 2, 2, 3, 3])
    // Demonstrations are of the task itself.
    expect(data.takeBatch(3).map(({ prompt }) => prompt.indexOf('+'))).toEqual([3, 3, 3])
  })

  test('samples that waited keep their level, and do not make it rise twice', () => {
    const data = make()
    const [first, second] = [data.takePlaces(4), data.takePlaces(4)]
    data.learn(answered(first, () => 1, data))
    const [moved, third] = [make(), data.takePlaces(4)]
    moved.importDifficulty(structuredClone(data.exportDifficulty()))
    for (const one of [data, moved]) {
      expect(one.learn(answered(second, () => 1, one))).toEqual({ 'curriculum/value': 1 })
      expect(digits(one, [...second, ...third])).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
    }
  })
})

describe('a gate', () => {
  const GATE = { min_rate: 0.2, max_rate: 0.8, retry_epochs: 2 }
  const gated = (shuffle = false) =>
    new TrainingData(SEED, task, { train_max_samples: 10, shuffle, admission: GATE })
  const [easy, hard] = [theSet(10).slice(0, 2), theSet(10).slice(2, 5)]
  const rate = (prompt: string) => (easy.includes(prompt) ? 1 : hard.includes(prompt) ? 0 : 0.5)
  const step = (data: TrainingData, count = 5) => {
    const places = data.takePlaces(count)
    const metrics = data.learn(answered(places, rate, data))
    return { prompts: places.map((place) => data.at(place).prompt), metrics }
  }

  test('leaves out what is too easy or too hard, and tries it again later', () => {
    const data = gated()
    expect(step(data).metrics).toEqual({ 'curriculum/admitted': 0.5 })
    step(data)
    // Two passes have the other half alone, then the first is tried again.
    for (let epoch = 1; epoch < 3; epoch++) {
      expect(step(data).prompts).toEqual(theSet(10).slice(5))
      expect(data.epoch).toBe(epoch)
    }
    expect(step(data).prompts).toEqual(theSet(10).slice(0, 5))
  })

  test('a pass with too few is filled: a batch always has its size, each problem once', () => {
    const data = gated(true)
    for (let i = 0; i < 40; i++) {
      const { prompts } = step(data, 7)
      expect(new Set(prompts).size).toBe(7)
    }
  })

  test('its state moves along', () => {
    const data = gated(true)
    for (let i = 0; i < 8; i++) {
      const moved = gated(true)
      moved.sample_index = data.sample_index
      moved.importDifficulty(structuredClone(data.exportDifficulty()))
      expect(step(moved)).toEqual(step(data))
    }
  })
})
