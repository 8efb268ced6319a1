// Tests what may happen around a page while it trains: no connection, another clock, storage that
// refuses or is cleared, a worker that hangs. The run continues, and the page says what happened.

import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { expect, LabPage, QUICK, test } from './lab_page.ts'
import { keepEvery, keptSteps, waitForCheckpoint } from './stored.ts'

/** The tiny preset with small steps: enough of them for things to happen in between. */
const LINK = `v=1&p=tiny&phases=sft,rl&phases.0.steps=20&phases.1.steps=60&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=0&probe.rows=8${QUICK}`
const STEPS = 80

async function opened(page: Page, everySteps = 4): Promise<LabPage> {
  await keepEvery(page, everySteps)
  const lab = new LabPage(page)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  return lab
}

async function begun(page: Page, everySteps = 4): Promise<LabPage> {
  const lab = await opened(page, everySteps)
  await lab.get('train').click()
  await lab.waitForStep(2)
  return lab
}

const worker = (page: Page) => {
  const [only] = page.workers()
  if (!only) throw new Error('no worker')
  return only
}

test('without a connection a run continues; a part that cannot be loaded says so, and comes with the connection', async ({
  context,
}) => {
  // Its console is not empty: the browser tells of every request that fails.
  const page = await context.newPage()
  const lab = await begun(page)
  await context.setOffline(true)
  const step = await lab.number('step-count')
  for (const tab of ['tokens', 'runs'] as const) {
    await lab.show(tab)
    await expect(lab.get('not-loaded')).toContainText('This tab could not be loaded')
  }
  await lab.get('load-again').click()
  await expect(lab.get('not-loaded')).toBeVisible()
  await lab.waitForStep(step + 3)
  await lab.show('learn')
  await expect(lab.get('reward-chart')).toBeVisible()
  await expect(lab.get('not-loaded')).toHaveCount(0)
  await lab.show('runs')
  await expect(lab.get('not-loaded')).toBeVisible()
  await context.setOffline(false)
  // By itself, when the browser says that it is online again.
  await expect(lab.get('runs')).toBeVisible()
  await lab.show('tokens')
  const again = lab.get('load-again')
  if (await again.isVisible()) await again.click()
  await expect(lab.get('not-loaded')).toHaveCount(0)
  await expect(page.locator('#tab-panel .card').first()).toBeVisible()
  // With its styles, which are a file of their own.
  const styles = () =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(
        ({ href, sheet }) => (sheet ? /Tokens/.test(href) : undefined),
      ),
    )
  await expect.poll(styles).not.toContain(undefined)
  expect(await styles()).toContain(true)
  await lab.waitForStatus('finished', 120_000)
})

test('a clock that jumps changes nothing but times of day, and no time is negative', async ({
  lab,
  page,
}) => {
  const DAY = 86_400_000
  await keepEvery(page, 4)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  let workers = 0
  page.on('worker', () => workers++)
  await lab.get('train').click()
  await lab.waitForStep(2)
  const jump = (by: number) => {
    const real = Date.now.bind(Date)
    Date.now = () => real() + by
  }
  for (const by of [DAY, -3 * DAY]) {
    await page.evaluate(jump, by)
    await worker(page).evaluate(jump, by)
    await lab.waitForStep((await lab.number('step-count')) + 6)
  }
  await lab.waitForStatus('finished', 120_000)
  expect(workers).toBe(0)
  await expect(lab.get('loss')).toHaveCount(0)
  expect(await lab.steps()).toHaveLength(STEPS + 1)
  await lab.show('runs')
  const runs = lab.get('runs')
  await expect(runs.getByTestId('run')).toHaveCount(1)
  await expect(runs).toContainText('finished')
  await expect(runs).not.toContainText(/[-−]\d+(\.\d+)?\s?(s|min|h|d)\b|NaN|Invalid/)
  await page.reload()
  await lab.get('open-run').click()
  await expect(lab.get('past-run')).toContainText(`finished, ${STEPS} steps`)
  await expect(lab.get('past-run')).not.toContainText(/[-−]\d|NaN|Invalid/)
})

test('storage that can no longer be written is reported where runs are kept, and the run can be downloaded', async ({
  lab,
  page,
}) => {
  await keepEvery(page, 4)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await waitForCheckpoint(lab, 4)
  await worker(page).evaluate(() => {
    Object.assign(FileSystemFileHandle.prototype, {
      createSyncAccessHandle: () =>
        Promise.reject(new DOMException('read-only', 'NoModificationAllowedError')),
    })
  })
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('The database is read-only.', 'ReadOnlyError')
    }
  })
  const problem = lab.get('checkpoint-problem')
  await expect(problem).toHaveAttribute('data-code', 'read_only')
  await expect(problem).toContainText('continues here without being kept')
  const coming = page.waitForEvent('download')
  await lab.get('download-newest').click()
  expect((await coming).suggestedFilename()).toMatch(/\.step_\d{6}\.safetensors$/)
  await lab.show('runs')
  await expect(lab.get('runs-problem')).toBeVisible()
  await lab.waitForStatus('finished', 120_000)
  await expect(lab.get('error')).toHaveCount(0)
})

test('without file storage a run is kept in memory, which is said, and survives a lost GPU', async ({
  browser,
  baseURL,
}, testInfo) => {
  // Its own browser: one GPU process serves all pages of a browser.
  const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
  const page = await own.newPage(baseURL ? { baseURL } : {})
  await page.addInitScript(() => {
    StorageManager.prototype.getDirectory = () =>
      Promise.reject(new DOMException('It is not allowed here.', 'SecurityError'))
  })
  const lab = await opened(page)
  await worker(page).evaluate(() => {
    StorageManager.prototype.getDirectory = () =>
      Promise.reject(new DOMException('It is not allowed here.', 'SecurityError'))
  })
  await lab.get('train').click()
  const problem = lab.get('checkpoint-problem')
  await expect(problem).toHaveAttribute('data-code', 'unavailable')
  await expect(problem).toContainText('It is not allowed here.')
  await waitForCheckpoint(lab, 8)
  const devtools = await own.newBrowserCDPSession()
  await devtools.send('Browser.crashGpuProcess').catch(() => {}) // the answer is lost with the process
  await expect(lab.get('loss')).toContainText('the run continues')
  await lab.waitForStatus('finished', 120_000)
  const restored = (await lab.events()).find((event) => event.type === 'restored')
  expect(restored?.type === 'restored' && restored.step).toBeGreaterThanOrEqual(8)
  await own.close()
})

test('checkpoints that the browser has cleared are written again', async ({ lab, page }) => {
  await keepEvery(page, 4)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await waitForCheckpoint(lab, 8)
  await page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory()
    for await (const name of origin.keys()) await origin.removeEntry(name, { recursive: true })
  })
  const cleared = Math.max(...(await keptSteps(lab)))
  await waitForCheckpoint(lab, cleared + 8)
  const newest = (await lab.events()).findLast((event) => event.type === 'checkpoint')
  expect(newest?.type === 'checkpoint' && newest.entries.length).toBeGreaterThan(0)
  await page.reload()
  await expect(lab.get('left-run')).toContainText('just now')
  await expect(lab.get('go-on')).toBeVisible()
})

test('with full storage the page says so, the run continues, and its newest state can be downloaded', async ({
  browser,
  baseURL,
}, testInfo) => {
  // A profile on disk: quotas are not kept to in private ones.
  const own = await browser.browserType().launchPersistentContext(testInfo.outputPath('profile'), {
    ...testInfo.project.use.launchOptions,
    ...(baseURL && { baseURL }),
  })
  const page = await own.newPage()
  const lab = await opened(page, 2)
  const devtools = await own.newCDPSession(page)
  const { origin } = new URL(page.url())
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100_000 })
  await lab.get('train').click()
  await expect(lab.get('checkpoint-problem')).toHaveAttribute('data-code', 'full')
  await lab.waitForStatus('finished', 300_000)
  const coming = page.waitForEvent('download')
  await lab.get('download-newest').click()
  const file = await coming
  expect(file.suggestedFilename()).toMatch(/-seed-\d+\.step_\d{6}\.safetensors$/)
  expect(
    readFileSync(await file.path())
      .subarray(8, 500)
      .toString(),
  ).toContain('"__metadata__"')
  await own.close()
})
