// Ends the GPU or the worker of a run in other ways than its first loss (survival.spec.ts).
import { expect, LabPage, test } from './lab_page.ts'
import { keepEvery, waitForCheckpoint } from './stored.ts'
import { LINK, metricsOf, reference, train } from './undisturbed.ts'

test('a worker that hangs is replaced, and the run continues to the same numbers', async ({
  lab,
  page,
  host,
}) => {
  await keepEvery(page, 2)
  const numbers = await reference(host)
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

test('a GPU that is lost twice is explained, keeps the curves, and waits for a person', async ({
  browser,
  baseURL,
}, testInfo) => {
  // Its own browser: one GPU process serves all pages of a browser.
  const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
  const page = await own.newPage(baseURL ? { baseURL } : {})
  const lab = new LabPage(page)
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStep(3)
  const devtools = await own.newBrowserCDPSession()
  // The answer is lost with the process.
  const crash = () => devtools.send('Browser.crashGpuProcess').catch(() => {})
  await crash()
  await expect(lab.get('loss')).toHaveAttribute('data-code', 'gpu')
  // It trains again.
  const stepsSince = async () => {
    const events = await lab.events()
    const from = events.findIndex(({ type }) => type === 'restored')
    return from < 0 ? 0 : events.slice(from).filter(({ type }) => type === 'step').length
  }
  await expect.poll(stepsSince).toBeGreaterThan(1)
  await crash()
  await expect(lab.get('loss')).toHaveAttribute('data-code', /waiting|blocked/)
  await lab.waitForStatus('paused')
  expect(await lab.number('step-count')).toBeGreaterThan(0)
  for (const chart of ['entropy-chart', 'heatmap-plot']) {
    const canvas = lab.get(chart).locator('canvas')
    await canvas.scrollIntoViewIfNeeded()
    const painted = () =>
      canvas.evaluate((element: HTMLCanvasElement) => {
        const { width, height } = element
        const pixels = element.getContext('2d')?.getImageData(0, 0, width, height).data
        return [...(pixels ?? [])].some((byte) => byte > 0)
      })
    await expect.poll(painted, { message: chart }).toBe(true)
  }

  // The browser may keep the GPU to itself for a while; then the page says so, and nothing is lost.
  await expect(lab.get('train')).toHaveText('Continue')
  await lab.get('train').click()
  await expect(lab.get('status')).toHaveAttribute('data-status', /preparing|running/)
  await expect(lab.get('status')).toHaveAttribute('data-status', /running|paused/)
  await expect(lab.get('error')).toHaveCount(0)
  await lab.get('reset').click()
  await expect(lab.get('loss')).toHaveCount(0)
  await own.close()
})
