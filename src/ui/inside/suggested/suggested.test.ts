import { expect, test } from 'vitest'
import { changeText, changeWidth } from './suggested.ts'

test('changes of entropy carry their sign', () => {
  expect([0.5094, -0.2631, 0].map(changeText)).toEqual(['+0.509', '−0.263', '0.000'])
})

test('bars begin in the middle and reach an end at the largest change', () => {
  const all = [0.4, -0.8, 0]
  expect(all.map((change) => changeWidth(change, all))).toEqual([
    { left: '50%', width: '25%' },
    { left: '0%', width: '50%' },
    { left: '50%', width: '0%' },
  ])
  expect(changeWidth(0, [0, 0])).toEqual({ left: '50%', width: '0%' })
})
