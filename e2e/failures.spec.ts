// What can go wrong after Train: the page says what happened and goes on from there.
import { expect, LabPage, test } from './lab_page.ts'

/** Legal in every field, and far beyond what any adapter binds at once. */
const TOO_LARGE =
  'v=1&p=tiny&task.length=8&model.hidden_size=1024&model.intermediate_size=4096&rollout.train_batch_size=1024' +
  '&rollout.n=64&actor.ppo_mini_batch_size=512&rollout.max_response_length=128'

test('a run beyond the adapter is refused with the tensor and both sizes, and a smaller one trains', async ({
  lab,
}) => {
  await lab.open(TOO_LARGE)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await expect(lab.get('error')).toHaveAttribute('data-code', 'too_large')
  await expect(lab.get('error')).toContainText(
    /needs \d+\.\d MB; this adapter binds at most \d+\.\d MB/,
  )
  await expect(lab.get('step-count')).toHaveText('–')
  await lab.get('preset').selectOption('tiny')
  await lab.get('reset').click()
  await expect(lab.get('error')).toHaveCount(0)
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText('1', { timeout: 120_000 })
})

test('half the batch is one press away, and undo brings the settings back', async ({ lab }) => {
  await lab.open(TOO_LARGE)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  const error = lab.get('error')
  const needed = async () => {
    const [, size] = /needs ([\d.]+) MB/.exec(await error.innerText()) ?? []
    return Number(size)
  }
  await expect(error).toHaveAttribute('data-code', 'too_large')
  const before = await needed()
  await lab.get('train-smaller').click()
  await expect.poll(needed).toBeCloseTo(before / 2, -1)
  const link = () => new URL(lab.page.url()).searchParams
  await expect.poll(() => link().get('rollout.train_batch_size')).toBe('512')
  expect(link().get('actor.ppo_mini_batch_size')).toBe('256')
  await lab.get('undo').click()
  await expect.poll(() => link().get('rollout.train_batch_size')).toBe('1024')
})

test('a lost GPU is explained, keeps the curves, and the run can be started again', async ({
  browser,
  baseURL,
}, testInfo) => {
  // Its own browser: one GPU process serves all pages of a browser.
  const own = await browser.browserType().launch(testInfo.project.use.launchOptions)
  const page = await own.newPage(baseURL ? { baseURL } : {})
  const lab = new LabPage(page)
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStep(3)
  const devtools = await own.newBrowserCDPSession()
  await devtools.send('Browser.crashGpuProcess').catch(() => {}) // the answer is lost with the process
  await expect(lab.get('error')).toHaveAttribute('data-code', 'lost')
  expect(await lab.number('step-count')).toBeGreaterThanOrEqual(3)
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
  await expect(lab.get('train')).toHaveText('Try again')
  await page.waitForTimeout(1000)
  await lab.get('train').click()
  await expect(lab.get('error')).toHaveCount(0)
  await lab.waitForStep(1)
  await own.close()
})
