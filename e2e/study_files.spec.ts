// A study of a person's own rows and reward: it trains on both, continues after a reload, and does
// not begin where they are missing.
import { readFileSync } from 'node:fs'
import { expect, LabPage, QUICK, test } from './lab_page.ts'

/** A few steps of a narrow model of one layer. */
const LINK =
  'v=1&p=tiny&phases=rl&phases.0.steps=6&phases.0.target_layer=final&model.num_hidden_layers=1' +
  `&model.hidden_size=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.test_freq=0${QUICK}`
const ROWS = Array.from({ length: 40 }, (_, i) =>
  JSON.stringify({ question: `${i}=`, answer: String(i % 10) }),
).join('\n')
const PROGRAM = `export function compute_score(data_source, solution_str, ground_truth) {
  return solution_str.length / 100
}`

async function drop({ page }: LabPage, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([own, content]) => {
      const data = new DataTransfer()
      data.items.add(new File([content], own))
      return data
    },
    [name, text] as const,
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}

/** Uses the rows and the reward, as a person does who drops one after the other. */
async function dropBoth(lab: LabPage): Promise<void> {
  await drop(lab, 'last digit.jsonl', ROWS)
  await lab.get('data-use').click()
  await drop(lab, 'length.js', PROGRAM)
  await expect(lab.get('reward-trial').locator('tbody tr')).toHaveCount(9, { timeout: 60_000 })
  await lab.get('reward-close').click()
}

/** The numbers of the four runs, when all are trained. */
async function finished(lab: LabPage): Promise<readonly unknown[]> {
  await expect(lab.get('study-progress')).toContainText('4 of 4 runs', { timeout: 180_000 })
  const waiting = lab.page.waitForEvent('download')
  await lab.get('study-save-results.jsonl').click()
  const runs = readFileSync(await (await waiting).path(), 'utf8')
    .trim()
    .split('\n')
  return runs
    .map((line) => JSON.parse(line))
    .map(({ arm, seed, status, adapter, series, costs }) => {
      expect(status).toBe('finished')
      expect(adapter).toMatch(/swiftshader/i)
      // What is drawn comes from the program.
      expect(series['critic/score/mean'][0][1]).toBeLessThan(0.2)
      return { arm, seed, series, costs }
    })
    .sort((a, b) => (`${a.arm}${a.seed}` < `${b.arm}${b.seed}` ? -1 : 1))
}

test('a study trains on rows and a reward of one’s own, over a reload, and names what is missing elsewhere', async ({
  browser,
  baseURL,
  lab,
  page,
}) => {
  test.setTimeout(300_000)
  await lab.open(LINK)
  await dropBoth(lab)
  await lab.show('study')
  await lab.get('study-new').click()
  await lab.get('study-0-field').fill('actor.optim.lr')
  await lab.get('study-0-field').press('Enter')
  await lab.get('study-values-0').fill('0.0001, 0.003')
  await lab.get('study-seeds').fill('2')
  await lab.get('study-make').click()
  await expect(lab.get('study-progress')).toContainText('0 of 4 runs')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await lab.get('study-link').click()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  await lab.get('study-train').click()
  await expect(lab.get('study-view')).toContainText(/step [2-6] of 6|[1-4] of 4 runs/, {
    timeout: 180_000,
  })
  await page.reload()
  await lab.show('study')
  const own = await finished(lab)

  // Another machine has neither of the files, until they are dropped there.
  const elsewhere = await browser.newContext({ ...(baseURL ? { baseURL } : {}) })
  const other = new LabPage(await elsewhere.newPage())
  await other.open()
  await other.page.goto(link)
  await other.get('study-train').click()
  const said = other.get('study-view')
  await expect(said).toContainText(/The file last digit.jsonl is not in this browser .* Drop it/)
  await dropBoth(other)
  await other.show('study')
  await other.get('study-train').click()
  expect(await finished(other)).toEqual(own)
  await elsewhere.close()
})
