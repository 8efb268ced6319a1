// Several logs that are dropped together are as many runs.
import { expect, test } from 'vitest'
import { foundRunsStore } from './found_runs.ts'
import { openFolder } from './open_folder.ts'

const lines = (scores: readonly number[]) =>
  scores
    .map((score, step) => `${JSON.stringify({ step, data: { 'critic/score/mean': score } })}\n`)
    .join('')
const TABLE = 'Step,a - loss,b - loss\n0,1,2\n1,0.5,1.5\n'

test('logs that are in no folder are asked for run by run, each called by its file', async () => {
  const files = [
    new File([lines([0.1, 0.2])], 'grpo_seed1.jsonl'),
    new File([lines([0.1, 0.4, 0.5])], 'grpo_seed2.jsonl'),
    new File([TABLE], 'wandb.csv'),
  ]
  const opened = openFolder(files)
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(4)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ run, step }) => [run, step])).toEqual([
    ['grpo_seed1', 1],
    ['grpo_seed2', 2],
    ['wandb, a', 1],
    ['wandb, b', 1],
  ])
  found?.answer([])
  expect(await opened).toBeUndefined()
})

test('files that are no logs are refused together', async () => {
  const files = [new File(['x'], 'a.bin'), new File(['y'], 'b.bin')]
  expect((await openFolder(files))?.problems.join()).toContain('there is no log in it')
})
