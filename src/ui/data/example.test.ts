import { expect, test } from 'vitest'
import { exampleFile } from './example.ts'

test('every row is another problem, and its answer is the largest digit', async () => {
  const rows = (await exampleFile().text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows).toHaveLength(400)
  expect(new Set(rows.map(({ question }) => question)).size).toBe(400)
  expect(rows[1]).toEqual({ question: 'largest of 7 9 1 9: ', answer: '9' })
  expect(rows[0]).toEqual({ question: 'largest of 0 0 0 0: ', answer: '0' })
})
