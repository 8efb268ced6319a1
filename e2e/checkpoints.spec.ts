// Runs survive what happens to a page: a reload, a lost GPU, a second tab, full storage. And they can be gone on from.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from '@playwright/test'
import type { LabEvent } from '../src/lab/protocol/protocol.ts'
import { expect, LabPage, measured, QUICK, test } from './lab_page.ts'

/** The tiny preset, short, with enough steps to be interrupted. */
const LINK = `v=1&p=tiny&phases.0.steps=6&phases.1.steps=4&phases.2.steps=24&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`
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
  return measured(readFileSync(await (await coming).path(), 'utf8'))
}

async function train(lab: LabPage, link = LINK): Promise<void> {
  await lab.open(link)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
}

declare global {
  interface Window {
    /** How often the browser was asked to keep what is stored. */
    asked: number
  }
}

/** The runs that have checkpoints in this browser. */
const keptFolders = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory()
    const folder = await origin.getDirectoryHandle('checkpoints')
    return Array.fromAsync(folder.keys())
  })

const keptSteps = async (lab: LabPage): Promise<number[]> =>
  (await lab.events()).flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []))

const waitForCheckpoint = (lab: LabPage, step: number) =>
  expect
    .poll(async () => Math.max(0, ...(await keptSteps(lab))), { timeout: 200_000 })
    .toBeGreaterThanOrEqual(step)

/** The first checkpoint makes the buffer that it is read back through; after it, steps and checkpoints make none. */
function expectNoNewBuffers(events: readonly LabEvent[]): void {
  const first = events.findIndex(({ type }) => type === 'checkpoint')
  expect(first).toBeGreaterThan(0)
  const made = events
    .slice(first)
    .flatMap((event) => (event.type === 'memory' ? [event.counts.buffers] : []))
  expect(new Set(made).size, `${made}`).toBe(1)
}

/** The numbers of the run that nothing happens to; the same for all tests, so it is trained once. */
let undisturbed: unknown[] | undefined
async function reference(browser: Browser, baseURL: string | undefined): Promise<unknown[]> {
  if (undisturbed) return undisturbed
  const own = await browser.newContext(baseURL ? { baseURL } : {})
  await keepOften(own)
  const lab = new LabPage(await own.newPage())
  await train(lab)
  await lab.waitForStatus('finished', 300_000)
  expectNoNewBuffers(await lab.events())
  undisturbed = await metricsOf(lab)
  expect(undisturbed).toHaveLength(STEPS + 1)
  await own.close()
  return undisturbed
}

test('a page that is loaded anew in mid-run goes on to the same numbers', async ({
  lab,
  page,
  browser,
  baseURL,
}) => {
  await keepOften(page)
  await page.addInitScript(() => {
    const { persist } = StorageManager.prototype
    window.asked = 0
    StorageManager.prototype.persist = function () {
      window.asked++
      return persist.call(this)
    }
  })
  const numbers = await reference(browser, baseURL)
  await train(lab)
  expect(await page.evaluate(() => window.asked)).toBe(0)
  await waitForCheckpoint(lab, 8)
  expect(await page.evaluate(() => window.asked)).toBe(1)
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
  await expect(lab.get('run')).toHaveCount(1)
  await expect(left).toHaveCount(0)
  await lab.get('run').first().getByTestId('open-run').click()
  await expect(lab.get('past-run')).toContainText(`finished, ${STEPS} steps`)
  expect(await metricsOf(lab)).toEqual(numbers)

  // Deleted, and the page left before that is done: the next one has neither the run nor its checkpoints.
  expect(await keptFolders(page)).toHaveLength(1)
  await lab.get('back-to-run').click()
  await lab.show('runs')
  await lab.get('run').first().getByTestId('delete-run').click()
  await page.reload()
  await lab.waitForStatus('idle')
  await expect.poll(() => keptFolders(page)).toEqual([])
  await expect(lab.get('run')).toHaveCount(0)
})

test('a lost GPU is opened again, the run goes on by itself to the same numbers, and the page says so', async ({
  browser,
  baseURL,
}, testInfo) => {
  const numbers = await reference(browser, baseURL)
  // Its own browser: one GPU process serves all pages of a browser.
  const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
  const page = await own.newPage(baseURL ? { baseURL } : {})
  await keepOften(page)
  const lab = new LabPage(page)
  await train(lab)
  await waitForCheckpoint(lab, 8)
  const devtools = await own.newBrowserCDPSession()
  await devtools.send('Browser.crashGpuProcess').catch(() => {}) // the answer is lost with the process
  await expect(lab.get('loss')).toContainText('the run continues')
  await expect(lab.get('error')).toHaveCount(0)
  await lab.waitForStatus('finished', 300_000)
  expect(await metricsOf(lab)).toEqual(numbers)
  const restored = (await lab.events()).filter((event) => event.type === 'restored')
  expect(restored).toHaveLength(1)
  expect(restored[0]).toMatchObject({ why: 'lost' })
  await own.close()
})

test('a worker that hangs is replaced, and the run goes on to the same numbers', async ({
  lab,
  page,
  browser,
  baseURL,
}) => {
  await keepOften(page)
  const numbers = await reference(browser, baseURL)
  await train(lab)
  await waitForCheckpoint(lab, 8)
  for (const worker of page.workers())
    worker
      .evaluate(() => {
        for (;;);
      })
      .catch(() => {}) // it never answers
  await expect(lab.get('loss')).toHaveAttribute('data-code', 'worker')
  await lab.waitForStatus('finished', 300_000)
  expect(await metricsOf(lab)).toEqual(numbers)
})

test('a run belongs to one tab; another one shows it read-only and says why', async ({
  lab,
  page,
  context,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('step').click()
  await lab.waitForStep(1)
  await lab.waitForStatus('paused')
  await expect.poll(() => keptSteps(lab)).toEqual([1])
  await page.waitForTimeout(WRITTEN_MS)

  const other = new LabPage(await context.newPage())
  await other.open(LINK)
  await other.show('runs')
  await expect(other.get('run')).toHaveCount(1)
  await expect(other.get('run')).toContainText('paused')
  await expect(other.get('left-run')).toHaveCount(0)
  await expect(other.get('delete-run')).toBeDisabled()
  await other.get('open-run').click()
  await expect(other.get('past-run')).toContainText('It continues in another tab')
  await expect(other.get('checkpoints')).toHaveCount(0)

  // What the other tab does is seen here at once: the run continues, and then its page is gone.
  await lab.get('step').click()
  await lab.waitForStep(2)
  await other.show('runs')
  await expect(other.get('run')).toContainText(`2 of ${STEPS}`)
  await page.close()
  await expect(other.get('run')).toContainText('interrupted')

  // With its page gone the run is anyone's.
  await other.page.reload()
  await expect(other.get('left-run')).toContainText(`stopped at step 2 of ${STEPS}`)
  await other.get('look-at-left').click()
  await expect(other.get('checkpoints')).toContainText('2 checkpoints are kept')
  await other.get('leave-it').click()
  await other.page.reload()
  await other.waitForStatus('idle')
  await expect(other.get('left-run')).toHaveCount(0)
})

test('with full storage the page says so, the run goes on, and its newest state can be taken away', async ({
  browser,
  baseURL,
}, testInfo) => {
  // A profile on disk: quotas are not kept to in private ones.
  const own = await browser.browserType().launchPersistentContext(testInfo.outputPath('profile'), {
    ...testInfo.project.use.launchOptions,
    ...(baseURL && { baseURL }),
  })
  const page = await own.newPage()
  const lab = new LabPage(page)
  await keepOften(page)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
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

test('a run of its own goes on from an older checkpoint, from a file, and in the command line', async ({
  lab,
  page,
  browser,
  baseURL,
}) => {
  await keepOften(page)
  const numbers = await reference(browser, baseURL)
  await train(lab)
  await lab.waitForStatus('finished', 300_000)
  await expect.poll(() => keptSteps(lab)).toContain(STEPS)
  await page.waitForTimeout(WRITTEN_MS)
  await page.reload()
  await lab.waitForStatus('idle')
  await lab.show('runs')
  await lab.get('run').first().getByTestId('open-run').click()
  await lab.get('checkpoints').locator('summary').click()
  const older = lab.get('checkpoint').nth(3)
  const step = Number(await older.getAttribute('data-step'))
  expect(step).toBeLessThan(STEPS)

  const coming = page.waitForEvent('download')
  await older.getByTestId('download-checkpoint').click()
  const file = await (await coming).path()

  const restorations = async () =>
    (await lab.events()).filter(({ type }) => type === 'restored').length
  await older.getByTestId('branch').click()
  // The page shows the new run, no longer the past one.
  await expect(lab.get('past-run')).toHaveCount(0)
  await expect.poll(restorations).toBe(1)
  await lab.waitForStatus('finished', 300_000)
  const restored = (await lab.events()).findLast((event) => event.type === 'restored')
  expect(restored).toMatchObject({ why: 'branch', step, parent: { step } })
  expect(await metricsOf(lab)).toEqual(numbers)
  await lab.show('runs')
  await expect(lab.get('run')).toHaveCount(2)
  await lab.get('run').first().getByTestId('edit-run').click()
  await expect(lab.get('run-details')).toContainText(`, step ${step}`)

  const goOnFrom = async (buffer: Buffer, from: number) => {
    await page.keyboard.press('Control+k')
    const choosing = page.waitForEvent('filechooser')
    // What is typed before the palette is there goes to the page.
    await lab.get('palette-input').fill('Open file')
    await page.keyboard.press('Enter')
    const given = { name: 'mine.safetensors', mimeType: 'application/octet-stream', buffer }
    await (await choosing).setFiles(given)
    await expect(lab.get('offered-file')).toContainText(`step ${from} of ${STEPS}`)
    const before = await restorations()
    await lab.get('go-on-file').click()
    await expect(lab.get('offered-file')).toHaveCount(0)
    // What is left may be over at once, and the run before it is finished too.
    await expect.poll(restorations).toBe(before + 1)
    await lab.waitForStatus('finished', 300_000)
    return metricsOf(lab)
  }
  expect(await goOnFrom(readFileSync(file), step)).toEqual(numbers)

  // On in the command line, and back: each has the steps before from the other, to the bit.
  const last = STEPS - 4
  const folder = mkdtempSync(join(tmpdir(), 'understory-'))
  try {
    const every = ['--checkpoint-every', `${last - step}`]
    const args = ['scripts/lab.mjs', 'train', '--resume', file, '--out', folder, ...every]
    execFileSync('node', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const found = measured(readFileSync(join(folder, 'metrics.jsonl'), 'utf8'))
    expect(found).toHaveLength(STEPS + 1)
    expect(found.slice(0, step + 1)).toEqual(numbers.slice(0, step + 1))
    const kept = join(folder, 'checkpoints', `step_${`${last}`.padStart(6, '0')}.safetensors`)
    const back = await goOnFrom(readFileSync(kept), last)
    expect(back).toHaveLength(STEPS + 1)
    expect(back.slice(0, last + 1)).toEqual(found.slice(0, last + 1))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }

  // Deleting a run deletes what was kept of it.
  await lab.show('runs')
  await lab.get('delete-checkpoints').click()
  await expect(lab.get('checkpoint-storage')).toContainText('for 1 run')
})

test('without files a run is kept in memory, and the page says so', async ({ lab, page }) => {
  await keepOften(page)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  for (const worker of page.workers())
    await worker.evaluate(() => {
      navigator.storage.getDirectory = () =>
        Promise.reject(new DOMException('The operation is insecure.', 'SecurityError'))
    })
  await lab.get('train').click()
  await expect(lab.get('checkpoint-problem')).toContainText('The operation is insecure.')
  await waitForCheckpoint(lab, 2)
  await expect(lab.get('checkpoint-problem')).toBeVisible()
})
