import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { ScoredPairs } from './ScoredPairs.tsx'

const pair = { prompt: '1+1=', chosen: '2', rejected: '3' }
const cellsOf = (scores: object): string[] => {
  const one = { ...pair, chosen_score: -1, rejected_score: 0.5, ...scores }
  const html = renderToStaticMarkup(<ScoredPairs step={7} pairs={[one]} learner="reward model" />)
  const row = /<tbody>(.*)<\/tbody>/s.exec(html)?.[1] ?? ''
  return [...row.matchAll(/<td.*?<\/td>/gs)].map(([cell]) => cell.replace(/<[^>]*>/g, ''))
}

test('a right answer is right also where the reward model prefers the other one, and both are said', () => {
  const [prompt, chosen, , rejected, , order] = cellsOf({
    chosen_task_score: 1,
    rejected_task_score: 0,
  })
  expect([prompt, chosen, rejected]).toEqual(['1+1=', '✓right:  2', '✗wrong:  3'])
  expect(order).toBe('other order')
})

test('what a person prefers may be wrong, and the reward model may agree', () => {
  const cells = cellsOf({
    chosen_task_score: 0,
    rejected_task_score: 1,
    chosen_score: 2,
    rejected_score: 1,
  })
  expect([cells[1], cells[3], cells[5]]).toEqual(['✗wrong:  2', '✓right:  3', 'same order'])
})

test('a recording without the task’s scores says nothing of right and wrong, and equal scores are no order', () => {
  const cells = cellsOf({ rejected_score: -1 })
  expect([cells[1], cells[3], cells[5]]).toEqual(['2', '3', 'no order'])
})
