// The metrics of a run come down as files that hold what the worker computed, to the last bit.
import { readFileSync } from 'node:fs'
import { expect, type LabPage, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK =
  `v=1&p=tiny&phases.0.steps=3&phases.1.steps=2&phases.2.steps=2&name=Small+%2F+run&seed=5${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8'

async function download(lab: LabPage, extension: string): Promise<{ name: string; text: string }> {
  const coming = lab.page.waitForEvent('download')
  await lab.get(`download-${extension}`).click()
  const file = await coming
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
}

test('metrics as JSON lines and as a table', async ({ lab }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await expect(lab.get('download-csv')).toHaveCount(0)
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  const steps = await lab.steps()
  expect(steps.length).toBe(8)

  const jsonl = await download(lab, 'jsonl')
  expect(jsonl.name).toBe('small-run-seed-5.metrics.jsonl')
  const lines = jsonl.text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    steps.map(({ step, metrics }) => ({ step, data: metrics })),
  )

  const csv = await download(lab, 'csv')
  expect(csv.name).toBe('small-run-seed-5.metrics.csv')
  const [head, ...rows] = csv.text.trimEnd().split('\n')
  const names = head.split(',')
  expect(names[0]).toBe('step')
  expect(names).toContain('critic/score/mean')
  const table = rows.map((row) =>
    Object.fromEntries(
      row.split(',').flatMap((text, i) => (text === '' ? [] : [[names[i], Number(text)]])),
    ),
  )
  expect(table).toEqual(steps.map(({ step, metrics }) => ({ step, ...metrics })))
})
