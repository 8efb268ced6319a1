import { beforeEach, expect, test, vi } from 'vitest'
import { markDone, progressOf, progressStore, readProgress } from './progress.ts'

beforeEach(() => progressStore.setState({}, true))

test('a lesson is finished when each of its parts is done, in any order, once', () => {
  const of = () => progressOf(progressStore.getState(), 'kl')
  expect(of()).toEqual({ done: [], is_finished: false })
  markDone('kl', 'b', ['a', 'b'])
  markDone('kl', 'b', ['a', 'b'])
  expect(of()).toEqual({ done: ['b'], is_finished: false })
  markDone('kl', 'a', ['a', 'b'])
  expect(of()).toEqual({ done: ['b', 'a'], is_finished: true })
  expect(progressOf(progressStore.getState(), 'ppo').done).toEqual([])
})

test('what the storage holds is believed only where it is of this kind', () => {
  const kept = { kl: { done: ['a'], is_finished: false } }
  const read = (text: string | null) => {
    vi.stubGlobal('localStorage', { getItem: () => text })
    return readProgress()
  }
  expect(read(JSON.stringify(kept))).toEqual(kept)
  expect(read(null)).toEqual({})
  expect(read('{')).toEqual({})
  expect(read('[1]')).toEqual({})
  expect(read(JSON.stringify({ ...kept, ppo: { done: [1], is_finished: true }, x: 3 }))).toEqual(
    kept,
  )
  vi.unstubAllGlobals()
})
