import { beforeEach, expect, test, vi } from 'vitest'
import {
  bringProgress,
  keepChoice,
  keepResult,
  keepRun,
  markDone,
  progressOf,
  progressStore,
  readProgress,
} from './progress.ts'

beforeEach(() => progressStore.setState({}, true))

test('a lesson is finished when each of its parts is done, in any order, once', () => {
  const of = () => progressOf(progressStore.getState(), 'kl')
  expect(of()).toMatchObject({ done: [], is_finished: false })
  markDone('kl', 'b', ['a', 'b'])
  markDone('kl', 'b', ['a', 'b'])
  expect(of()).toMatchObject({ done: ['b'], is_finished: false })
  markDone('kl', 'a', ['a', 'b'])
  expect(of()).toMatchObject({ done: ['b', 'a'], is_finished: true })
  expect(progressOf(progressStore.getState(), 'ppo').done).toEqual([])
})

test('what the storage holds is believed only where it is of this kind', () => {
  const kept = { kl: { done: ['a'], is_finished: false, chosen: {}, runs: {}, results: {} } }
  const read = (text: string | null) => {
    vi.stubGlobal('localStorage', { getItem: () => text })
    return readProgress()
  }
  expect(read(JSON.stringify(kept))).toEqual(kept)
  // As earlier versions wrote it.
  expect(read('{"kl":{"done":["a"],"is_finished":false}}')).toEqual(kept)
  expect(read(null)).toEqual({})
  expect(read('{')).toEqual({})
  expect(read('[1]')).toEqual({})
  expect(read(JSON.stringify({ ...kept, ppo: { done: [1], is_finished: true }, x: 3 }))).toEqual(
    kept,
  )
  vi.unstubAllGlobals()
})

const RUN = {
  link: 'v=1&p=tiny',
  step: 4,
  document: 'a'.repeat(32),
  curves: 'b'.repeat(32),
  adapter: 'own',
}

test('every choice is remembered in order, and the run that first met what was asked', () => {
  keepChoice('kl', 'a', 2)
  keepChoice('kl', 'a', 0)
  keepRun('kl', 'leash', RUN)
  keepRun('kl', 'leash', { ...RUN, step: 9 })
  expect(progressOf(progressStore.getState(), 'kl')).toMatchObject({
    chosen: { a: [2, 0] },
    runs: { leash: { step: 4 } },
    done: [],
  })
})

test('what a file brings is added, and nothing of this browser is lost', () => {
  markDone('kl', 'a', ['a', 'b'])
  keepChoice('kl', 'a', 1)
  keepResult('kl', 'a', 'mine', true)
  const theirs = {
    done: ['a', 'b'],
    is_finished: true,
    chosen: { a: [0], b: [3] },
    runs: {},
    results: { a: 'theirs', b: 'theirs' },
  }
  bringProgress({ kl: theirs, ppo: theirs })
  expect(progressStore.getState()).toEqual({
    kl: { ...theirs, chosen: { a: [1], b: [3] }, results: { a: 'mine', b: 'theirs' } },
    ppo: theirs,
  })
})

test('the result of a run stays until another run is over', () => {
  const result = () => progressOf(progressStore.getState(), 'try').results.a
  keepResult('try', 'a', '40 %', false)
  expect(result()).toBe('40 %')
  keepResult('try', 'a', '52 %', true)
  keepResult('try', 'a', '30 %', false)
  expect(result()).toBe('52 %')
  keepResult('try', 'a', '45 %', true)
  expect(result()).toBe('45 %')
})
