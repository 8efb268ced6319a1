// A run survives its page and its GPU: reloaded in mid-run or lost, it reaches the numbers of a run
// that nothing happens to.
import { expect, LabPage, LONG_ONLY, test } from './lab_page.ts'
import { keepEvery, keptFolders, waitForCheckpoint, waitForRecords } from './stored.ts'
import { metricsOf, reference, STEPS, train } from './undisturbed.ts'

declare global {
  interface Window {
    /** How often the browser was asked to keep what is stored. */
    asked: number
  }
}

test(
  'a page that is reloaded in mid-run reaches the same numbers',
  LONG_ONLY,
  async ({ lab, page, host }) => {
    await keepEvery(page, 2)
    await page.addInitScript(() => {
      const { persist } = StorageManager.prototype
      window.asked = 0
      StorageManager.prototype.persist = function () {
        window.asked++
        return persist.call(this)
      }
    })
    const numbers = await reference(host)
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

    // One record, whole, with its samples; nothing is left to continue.
    await waitForRecords(page, `finished ${STEPS}`)
    await page.reload()
    await lab.show('runs')
    await expect(lab.get('run')).toHaveCount(1)
    await expect(left).toHaveCount(0)
    await lab.get('run').first().getByTestId('open-run').click()
    await expect(lab.get('past-run')).toContainText(`finished, ${STEPS} steps`)
    expect(await metricsOf(lab)).toEqual(numbers)

    // Deleted, and the page left before that is done: the next one has neither the run nor its
    // checkpoints.
    expect(await keptFolders(page)).toHaveLength(1)
    await lab.get('back-to-run').click()
    await lab.show('runs')
    await lab.get('run').first().getByTestId('delete-run').click()
    // From here on it is deleted: the page has the run's lock, and the files go when it is left.
    await expect(lab.get('run')).toHaveCount(0)
    await page.reload()
    await lab.waitForStatus('idle')
    await expect.poll(() => keptFolders(page)).toEqual([])
    await expect(lab.get('run')).toHaveCount(0)
  },
)

test(
  'a lost GPU is opened again, the run continues by itself to the same numbers, and the page says so',
  LONG_ONLY,
  async ({ browser, baseURL, host }, testInfo) => {
    const numbers = await reference(host)
    // Its own browser: one GPU process serves all pages of a browser.
    const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
    const page = await own.newPage(baseURL ? { baseURL } : {})
    await keepEvery(page, 2)
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
  },
)
