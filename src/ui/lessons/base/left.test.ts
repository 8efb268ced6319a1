import { expect, test } from 'vitest'
import { NOTHING_DONE } from '../../../document/course/progress.ts'
import { endSays, leftOf } from './left.ts'

const ID = 'policy-and-reward'

test('a lesson says how many questions and experiments are left, and which kind of left', () => {
  expect(leftOf(ID, NOTHING_DONE)).toEqual({
    count: 4,
    words: '2 questions not answered and 2 experiments left',
  })
  const progress = {
    ...NOTHING_DONE,
    done: ['product', 'train'],
    chosen: { product: [0, 1], reward: [1] },
  }
  expect(leftOf(ID, progress)).toEqual({
    count: 2,
    words: '1 question still wrong and 1 experiment left',
  })
})

test('of a page that is no lesson of the lab nothing is known', () => {
  expect(leftOf('page.1', NOTHING_DONE)).toBeUndefined()
})

test('without a GPU a lesson is read to its end by its questions', () => {
  expect(leftOf(ID, NOTHING_DONE, true)).toEqual({
    count: 2,
    words: '2 questions not answered and 2 experiments that need a GPU',
  })
  const read = { ...NOTHING_DONE, done: ['product', 'reward'] }
  expect(endSays(ID, read, false)).toEqual({ isRead: false, says: '2 experiments left' })
  const { isRead, says } = endSays(ID, read, true)
  expect(isRead).toBe(true)
  expect(says).toContain('Read to its end')
  expect(endSays('page.1', NOTHING_DONE, true)).toEqual({ isRead: false, says: '' })
})
