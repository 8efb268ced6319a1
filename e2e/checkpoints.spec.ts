// Runs survive what happens to a page: a reload, a lost GPU, a second tab, full storage. And they can be gone on from.
import { readFileSync } from 'node:fs'
import type { BrowserContext, Page } from '@playwright/test'
import { expect, LabPage, test } from './lab_page.ts'

/** The tiny preset, short, with enough steps to be interrupted. */
const LINK =
  'v=1&p=tiny&phases.0.steps=6&phases.1.steps=4&phases.2.steps=24&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8'
const STEPS = 34
/** A record is written at least so often. */
const WRITTEN_MS = 3000

/** Kept after every second step, whatever the clock says: tests are over before the usual ten seconds. */
const keepOften = (target: Page | BrowserContext) =>
  target.addInitScript(() => {
    const often = { every_steps: 2, every_ms: 0, budget_bytes: 256e6 }
    localStorage.setItem('understory.checkpoints', JSON.stringify(often))
  })

/** What was measured, without what the clock says: one line a step, as the page hands it out. */
async function metricsOf(lab: LabPage): Promise<unknown[]> {
  await lab.show('learn')
  const coming = lab.page.waitForEvent('download')
  await lab.get('download-jsonl').click()
  const text = readFileSync(await (await coming).path(), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { step, data } = JSON.parse(line)
      const kept = Object.entries(data).filter(([name]) => !/^(timing_|perf\/)/.test(name))
      return { step, data: Object.fromEntries(kept) }
    })
}

async function train(lab: LabPage, link = LINK): Promise<void> {
  await lab.open(link)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
}

const keptSteps = async (lab: LabPage): Promise<number[]> =>
  (await lab.events()).flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []))

const waitForCheckpoint = (lab: LabPage, step: number) =>
  expect
    .poll(async () => Math.max(0, ...(await keptSteps(lab))), { timeout: 200_000 })
    .toBeGreaterThanOrEqual(step)

/** The numbers of the run that nothing happens to; the same for all tests, so it is trained once. */
let undisturbed: unknown[] | undefined
async function reference(page: Page): Promise<unknown[]> {
  if (undisturbed) return undisturbed
  const lab = new LabPage(page)
  await train(lab)
  await lab.waitForStatus('finished', 300_000)
  undisturbed = await metricsOf(lab)
  expect(undisturbed).toHaveLength(STEPS + 1)
  await page.close()
  return undisturbed
}

test('a page that is loaded anew in mid-run goes on to the same numbers', async ({
  lab,
  page,
  context,
}) => {
  await keepOften(context)
  const numbers = await reference(await context.newPage())
  await train(lab)
  await waitForCheckpoint(lab, 8)
  await page.reload()
  const left = lab.get('left-run')
  await expect(left).toContainText(`of ${STEPS}, just now`)
  await lab.get('go-on').click()
  await expect(left).toHaveCount(0)
  await lab.waitForStatus('finished', 300_000)
  const restored = (await lab.events()).find((event) => event.type === 'restored')
  expect(restored).toMatchObject({ why: 'resume' })
  expect(restored?.type === 'restored' && restored.step).toBeGreaterThanOrEqual(8)
  expect(await metricsOf(lab)).toEqual(numbers)
  await expect(lab.get('loss')).toHaveCount(0)
  await expect(lab.get('differs')).toHaveCount(0)

  // One record, whole, with its samples; nothing is left to go on with.
  await page.waitForTimeout(WRITTEN_MS)
  await page.reload()
  await lab.show('runs')
  await expect(lab.get('run')).toHaveCount(2)
  await expect(left).toHaveCount(0)
  await lab.get('run').first().getByTestId('open-run').click()
  await expect(lab.get('past-run')).toContainText(`finished, ${STEPS} steps`)
  expect(await metricsOf(lab)).toEqual(numbers)
})

test('a lost GPU is opened again, the run goes on by itself to the same numbers, and the page says so', async ({
  browser,
  baseURL,
  context,
}, testInfo) => {
  await keepOften(context)
  const numbers = await reference(await context.newPage())
  // Its own browser: one GPU process serves all pages of a browser.
  const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
  const page = await own.newPage(baseURL ? { baseURL } : {})
  await keepOften(page)
  const lab = new LabPage(page)
  await train(lab)
  await waitForCheckpoint(lab, 8)
  const devtools = await own.newBrowserCDPSession()
  await devtools.send('Browser.crashGpuProcess').catch(() => {}) // the answer is lost with the process
  await expect(lab.get('loss')).toContainText('the run goes on')
  await expect(lab.get('error')).toHaveCount(0)
  await lab.waitForStatus('finished', 300_000)
  expect(await metricsOf(lab)).toEqual(numbers)
  const restored = (await lab.events()).filter((event) => event.type === 'restored')
  expect(restored).toHaveLength(1)
  expect(restored[0]).toMatchObject({ why: 'lost' })
  await own.close()
})
