import { expect, test } from 'vitest'
import { loadTask, TASKS } from '../../tasks/index.ts'
import { taskCard } from './task_card.ts'

test.for(TASKS)('$id shows what it is and three problems of its own', async ({ id, summary }) => {
  await loadTask(id)
  const card = taskCard({ id }, 3)
  expect(card.summary).toBe(summary)
  expect(new Set(card.problems.map(({ prompt }) => prompt)).size).toBe(3)
  for (const { ground_truth } of card.problems) expect(ground_truth).not.toBe('')
})

test('problems follow the parameters', () => {
  const { problems } = taskCard({ id: 'sort_digits', length: 3 }, 2)
  expect(problems.map(({ prompt }) => prompt.length)).toEqual([4, 4])
})
