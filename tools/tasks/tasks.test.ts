// Tests that texts about tasks agree with their rows, and that a row is of the run as it is now.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { projectRoot } from '../../src/cli/base/project_root.ts'
import { resultText } from '../../src/document/presets/task_results.ts'
import { TASKS } from '../../src/tasks/index.ts'
import { shortRun, taskRow } from './short_run.ts'
import { readRow, readRows, saidFiles, tasks } from './tasks.ts'

const ROOT = projectRoot()
const facts = {
  adapter: { description: 'a GPU' } as Parameters<typeof taskRow>[1]['adapter'],
  wall_time_s: 12.34567,
}
const rows = (id: string) => [
  { step: 100, data: { [`val-aux/${id}/acc/greedy`]: 0.9 } },
  { step: 200, data: { [`val-aux/${id}/acc/greedy`]: 0.25 } },
  ...Array.from({ length: 150 }, (_, i) => ({
    step: 201 + i,
    data: { 'critic/score/mean': i < 8 ? 0.125 : 0.75 },
  })),
  { step: 350, data: { [`val-aux/${id}/acc/greedy`]: 0.5 } },
]

test.for(TASKS)('$id has a short run of at most 300,000 weights', ({ id, short_run = {} }) => {
  const experiment = shortRun(id, 1)
  expect(experiment.task).toMatchObject({ id, ...short_run })
  const { result, settings } = taskRow(experiment, facts, rows(id))
  expect(result.weights).toBeLessThan(300_000)
  expect(result).toMatchObject({
    params: short_run,
    accuracy_first: 0.25,
    accuracy_last: 0.5,
    seconds: 12.3457,
    reward_first: 0.125,
    reward_last: 0.75,
    sft_steps: 200,
    rl_steps: 150,
  })
  expect(settings).toMatchObject({ 'task.id': id })
  expect(resultText(result)).toMatch(
    /Greedy answers to held-out problems: 25 % correct before GRPO, 50 % after it\. Mean/,
  )
  expect(resultText({ ...result, accuracy_last: 0.125 })).toContain(
    '25 % correct before GRPO, 13 % after it, so here imitation alone was better.',
  )
})

test('committed rows are of the tasks as they are now, and menu and docs say what they hold', () => {
  const kept = readRows(ROOT)
  const files = TASKS.filter(({ id }) => existsSync(join(ROOT, 'bench/tasks', `${id}.json`)))
  expect(kept.map(({ task }) => task)).toEqual(files.map(({ id }) => id))
  for (const [file, text] of saidFiles(ROOT, kept))
    expect(readFileSync(file, 'utf8'), `${file}: npm run tasks -- --from bench/tasks`).toBe(text)
})

test('a task is not trained again where its result is there, and a result of another run is none', async () => {
  const out = mkdtempSync(join(tmpdir(), 'understory-tasks-'))
  onTestFinished(() => rmSync(out, { recursive: true }))
  const row = taskRow(shortRun('gcd', 1), facts, rows('gcd'))
  writeFileSync(join(out, 'gcd.json'), JSON.stringify(row))
  expect(await tasks.run(['--tasks', 'gcd', '--out', out])).toBe(0)
  expect(readRow(out, 'gcd', 2)).toBeUndefined()
  writeFileSync(join(out, 'gcd.json'), JSON.stringify({ ...row, settings: {} }))
  expect(readRow(out, 'gcd', 1)).toBeUndefined()
  await expect(tasks.run(['--tasks', 'chess'])).rejects.toThrow(/there is no task 'chess'/)
})
