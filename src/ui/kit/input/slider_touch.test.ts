import { expect, test } from 'vitest'
import { scrollsPage } from './slider_touch.ts'

test('a finger scrolls the page where it goes up or down more than along a slider', () => {
  expect(scrollsPage(2, 5)).toBeUndefined()
  expect(scrollsPage(3, -20)).toBe(true)
  expect(scrollsPage(20, 19)).toBe(false)
  expect(scrollsPage(-9, 0)).toBe(false)
})
