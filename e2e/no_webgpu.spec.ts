// Without a usable GPU the page says what is wrong and what to do, and stays a page.
import { expectClean } from './axe.ts'
import { cutOff } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, test } from './lab_page.ts'

async function expectExplained(lab: LabPage, code: string, title: RegExp): Promise<void> {
  // The picture plays all the same; what to do is behind the button.
  await expect(lab.get('lacks-gpu')).toBeVisible()
  await expect(lab.get('status')).toHaveText('no GPU here')
  await expect(lab.get('forest')).toHaveAttribute('data-live', 'false')
  // Beside another part than Learning the picture is a strip; there one button stands out.
  await lab.show('inside')
  await expect(lab.page.locator('#tab-panel')).not.toContainText('Opening …')
  expect((await lab.page.locator('.forest').boundingBox())?.height).toBeLessThanOrEqual(110)
  await lab.show('learn')
  await expect(lab.page.locator('button.primary:visible')).toHaveText([/Watch a recorded run/])
  await expect(lab.get('watch-recording')).toBeEnabled()
  const error = lab.get('error')
  await expect(error).toBeHidden()
  await lab.get('train-here').click()
  await expect(error).toBeVisible()
  await expect(error).toHaveAttribute('data-code', code)
  await expect(error.getByRole('heading')).toHaveText(title)
  await expect(error.getByRole('listitem').first()).not.toBeEmpty()
  // Open, it makes the picture beside another part no higher.
  await lab.show('inside')
  expect((await lab.page.locator('.forest').boundingBox())?.height).toBeLessThanOrEqual(110)
  await lab.show('learn')
  await expect(lab.get('preset')).toBeVisible()
}

test('where WebGPU offers no adapter the page says so and what to turn on', async ({ lab }) => {
  await lab.open()
  await expectExplained(lab, 'no_adapter', /no GPU/)
  await expect(lab.get('error')).toContainText('graphics acceleration')
})

test('the three ways in lie side by side in their card, upright and on its side', async ({
  lab,
  page,
}) => {
  for (const [width, height] of [
    [390, 844],
    [844, 390],
  ]) {
    await page.setViewportSize({ width, height })
    await lab.open()
    await expect(lab.get('read-lessons')).toBeVisible()
    const boxes = await page.evaluate(() =>
      ['.forest-says', 'watch-recording', 'read-lessons', 'train-here', 'lacks-gpu'].map((name) => {
        const part =
          document.querySelector(`[data-testid="${name}"]`) ?? document.querySelector(name)
        const { left, right, top, bottom } = part?.getBoundingClientRect() ?? new DOMRect()
        return { left, right, top, bottom }
      }),
    )
    const [card, ...parts] = boxes
    for (const part of parts) expect(part.right, `${width}`).toBeLessThanOrEqual(card.right)
    const says = parts[parts.length - 1]
    for (const way of parts.slice(0, -1)) expect(way.bottom).toBeLessThanOrEqual(says.top)
    for (const way of parts.slice(0, -1)) expect(way.bottom - way.top).toBeLessThanOrEqual(50)
  }
})

/** Where the run's bar has stood below the first screen, in pixels, in order. */
declare global {
  interface Window {
    barTops: number[]
  }
}

test('what is below the first screen stays where it is when it is known that there is no GPU', async ({
  lab,
  page,
}) => {
  await page.addInitScript(() => {
    window.barTops = []
    // The answer of the worker comes after the page has been drawn.
    const dispatch = EventTarget.prototype.addEventListener
    Worker.prototype.addEventListener = function (
      this: Worker,
      type: string,
      listen: (event: Event) => void,
    ) {
      const later = (event: Event) => setTimeout(() => listen(event), 1200)
      dispatch.call(this, type, type === 'message' ? later : listen)
    } as typeof Worker.prototype.addEventListener
    const follow = () => {
      const settings = document.querySelector('.app .settings button')
      const bar = settings && document.querySelector('.work')
      const top = bar && Math.round(bar.getBoundingClientRect().top)
      if (top && window.barTops.at(-1) !== top) window.barTops.push(top)
      requestAnimationFrame(follow)
    }
    requestAnimationFrame(follow)
  })
  for (const [width, height] of [
    [390, 844],
    [844, 390],
    [1000, 700],
    [1440, 900],
  ]) {
    await page.setViewportSize({ width, height })
    await lab.open()
    await expect(lab.get('estimate')).toBeVisible()
    await expect(lab.get('lacks-gpu')).toBeVisible()
    const tops = await page.evaluate(() => window.barTops)
    // The name of a button of the bar above may take a second line.
    expect(Math.max(...tops) - Math.min(...tops), `${width}: ${tops}`).toBeLessThanOrEqual(6)
  }
})

test('no button of the bar lies on another one, and the way that is asked for stays where it is', async ({
  lab,
  page,
}) => {
  for (const [width, height] of [
    [1000, 700],
    [900, 700],
    [390, 844],
  ]) {
    await page.setViewportSize({ width, height })
    await lab.open()
    await expect(lab.get('lacks-gpu')).toBeVisible()
    await expect(lab.get('train')).toHaveText('Look for a GPU again')
    expect(await cutOff(page), `${width}`).toEqual([])
    const boxes = await Promise.all(
      (await page.locator('.bar button:visible').all()).map((button) => button.boundingBox()),
    )
    for (const [i, one] of boxes.entries())
      for (const other of boxes.slice(i + 1)) {
        if (!one || !other) throw new Error('a button has gone')
        const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x)
        const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y)
        expect(Math.min(across, down), `${width}`).toBeLessThanOrEqual(0)
      }
    expect((await lab.get('train').boundingBox())?.height, `${width}`).toBeLessThanOrEqual(44)
  }
  const before = await lab.get('train-here').boundingBox()
  await lab.get('train-here').click()
  await expect(lab.get('error')).toBeVisible()
  await page.evaluate(() => scrollTo(0, 0))
  expect((await lab.get('train-here').boundingBox())?.y).toBe(before?.y)
})

test('without a GPU nothing offers to train, to measure or to edit what cannot be trained', async ({
  lab,
}) => {
  await lab.open()
  await expect(lab.get('lacks-gpu')).toBeVisible()
  await lab.get('preset').selectOption('brackets')
  await expect(lab.get('played-above')).toContainText('Nothing can be trained here without a GPU')
  await expect(lab.get('add-phase')).toBeHidden()
  await expect(lab.get('phase-boundary-0')).toBeHidden()
  await lab.show('gpu')
  await expect(lab.get('profile-step')).toBeDisabled()
  await expect(lab.get('benchmark')).toBeDisabled()
  await expect(lab.get('profiler')).toContainText('Both need a GPU')
  await expect(lab.get('memory')).toContainText('a run shows here what it keeps')
  // It looks, finds none, and what can be done about it comes into sight: no run has failed.
  await expect(lab.get('train')).toHaveText('Look for a GPU again')
  // It begins no run.
  await expect(lab.get('train').locator('.lucide-play')).toHaveCount(0)
  await lab.get('train').click()
  await expect(lab.get('error')).toBeInViewport()
  await expect(lab.get('status')).toHaveText('no GPU here')
  await expect(lab.get('preset')).toHaveValue('brackets')
})

// axe takes twenty seconds where the picture is painted without a GPU.
test('axe finds nothing where WebGPU offers no adapter', LONG_ONLY, async ({ lab }) => {
  await lab.open()
  await expect(lab.get('lacks-gpu')).toBeVisible()
  await expectClean(lab, 'without a GPU')
  await lab.get('train-here').click()
  await expect(lab.get('error')).toBeVisible()
  await expectClean(lab, 'what training needs', '.forest')
})

test('over plain http from another machine the page asks for a secure address', async ({
  lab,
  page,
  consoleLines,
}) => {
  await lab.open('', `http://192.0.2.1:${process.env.E2E_PORT}/`)
  await expectExplained(lab, 'insecure_origin', /secure address/)
  await expect(lab.get('train')).toHaveText('Look for a GPU again')
  // A recorded run needs no secure address, and its model none of the browser's own hashes.
  await lab.get('at-rest').scrollIntoViewIfNeeded()
  await expect(lab.get('at-rest')).toContainText('A recording of')
  await expect(page.locator('.charts')).toHaveAttribute('data-empty', 'false')
  await expect(lab.get('missing-files')).toHaveCount(0)
  // The browser says that one of the server's headers needs a secure address, too.
  expect(consoleLines.splice(0)).toEqual([
    expect.stringContaining('The Cross-Origin-Opener-Policy header has been ignored'),
  ])
})

test('without WebGPU the page names browsers that have it', async ({ lab, page }) => {
  const withoutGpu =
    'Object.defineProperty(WorkerNavigator.prototype, "gpu", { value: undefined });'
  await page.route(/worker.*\.js$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: withoutGpu + (await response.text()) })
  })
  await lab.open()
  await expectExplained(lab, 'no_webgpu', /has no WebGPU/)
  // The big button is the same as where WebGPU offers no adapter.
  await lab.get('train-here').click()
  await expect(lab.get('error')).toBeHidden()
  await expect(lab.get('train')).toHaveText('Look for a GPU again')
  await lab.get('train').click()
  await expect(lab.get('error')).toBeInViewport()
})

test('where it is known that there is no GPU the first screen offers no training before it says so', async ({
  lab,
  page,
}) => {
  let arrive = () => {}
  const held = new Promise<void>((resolve) => {
    arrive = resolve
  })
  await page.route(/WithoutGpu/, async (route) => {
    await held
    await route.continue()
  })
  await lab.open()
  await lab.waitForStatus('no_gpu')
  await expect(lab.get('estimate')).toBeHidden()
  await expect(lab.get('train-here')).toBeHidden()
  arrive()
  await expect(lab.get('lacks-gpu')).toBeVisible()
  await expect(lab.get('train-here')).toBeVisible()
})
