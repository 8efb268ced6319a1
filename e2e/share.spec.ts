// Tests what a link can carry beside the experiment: curves, a view for a class, a frame for
// another page.
import { expect, followConsole, LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** A few small steps of every phase. */
const LINK =
  `v=1&p=tiny&phases.0.steps=6&phases.1.steps=2&phases.2.steps=6${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=16'
const TEACHER = 'hide=samples,small,moon&lock=experiment,settings,phases'

test(
  'a link with curves shows the receiver the sender’s result',
  LONG_ONLY,
  async ({ lab, page, browser }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('share-options').click()
    // No run, no curves.
    await expect(lab.get('share-with-curves')).toBeDisabled()
    await expect(lab.get('share-link')).toHaveValue(/\?v=1&p=tiny[^#]*$/)
    await page.keyboard.press('Escape')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    const reward = await lab.get('reward-value').innerText()

    await lab.get('share-options').click()
    // Of a run that is over they go with the link unasked.
    await expect(lab.get('share-with-curves')).toBeChecked()
    await expect(lab.get('share-says')).toContainText(/\d curves of 14 steps on \S/)
    await lab.get('share-copy').click()
    await expect(lab.get('toast')).toContainText('Link copied')
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toMatch(/#r=[\w-]+$/)
    expect(link.length).toBeLessThan(2000)

    const context = await browser.newContext()
    const received = new LabPage(await context.newPage())
    const lines: string[] = []
    followConsole(received.page, lines)
    await received.page.goto(link)
    await received.waitForStatus('idle')
    // The picture plays the sender's run, not the one that comes with the page.
    await expect(received.page.locator('.forest-source')).toContainText('The sender’s run: step')
    const reference = received.get('reference')
    await expect(reference).toContainText('14 steps on')
    await expect(reference).toContainText(reward)
    // Neither another tab nor another experiment takes it away.
    await received.show('gpu')
    expect(received.page.url()).toMatch(/#tab=gpu&r=/)
    await received.page.locator('#field-seed').fill('77')
    await received.page.locator('#field-seed').blur()
    await expect.poll(() => received.page.url()).toMatch(/seed=77.*#tab=gpu&r=/)
    await expect(reference).toContainText('yours is a different one now')
    await received.get('dismiss-reference').click()
    await expect(reference).toHaveCount(0)
    expect(received.page.url()).toMatch(/#tab=gpu$/)
    await context.close()
    expect(lines).toEqual([])

    // A past run sends them too.
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.get('show-newest').click()
    await expect(lab.get('step-count')).toHaveText('14')
    await lab.get('share-options').click()
    await expect(lab.get('share-with-curves')).toBeChecked()
    await expect(lab.get('share-link')).toHaveValue(/#r=[\w-]+$/)
  },
)

test(
  'a link for a class is made by ticking, hides and locks what it says, and can be undone',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open()
    await lab.get('share-options').click()
    await page.getByText('For a class: hide and lock').click()
    await lab.get('share-hide-samples').check()
    await lab.get('share-lock-settings').check()
    await expect(lab.get('share-link')).toHaveValue(/#hide=samples&lock=settings$/)
    await page.keyboard.press('Escape')

    await page.goto(`./?v=1&p=tiny#${TEACHER}`)
    await lab.waitForStatus('idle')
    await expect(lab.get('locked')).toContainText('locks the menu of experiments, the settings and')
    await expect(lab.get('notices')).toContainText("hide what is not known here: 'moon'")
    await expect(lab.get('preset')).toBeDisabled()
    await expect(page.locator('#field-seed')).toBeDisabled()
    await expect(lab.get('add-phase')).toBeHidden()
    await lab.show('gpu')
    expect(page.url()).toContain(`#tab=gpu&${TEACHER}`)
    await lab.show('learn')
    // Keys are no way around.
    await lab.get('step').click()
    await lab.waitForStep(1)
    await lab.waitForStatus('paused')
    await expect(page.getByRole('heading', { name: 'Reward and held-out' })).toBeVisible()
    await expect(lab.get('samples')).toBeHidden()
    await page.locator('body').press('n')
    await expect(lab.get('next-phase')).toBeDisabled()
    await lab.get('unlock').click()
    await lab.waitForStatus('idle')
    await expect(lab.get('locked')).toHaveCount(0)
    await expect(lab.get('preset')).toBeEnabled()
    expect(page.url()).toMatch(/\?v=1&p=tiny$/)
    await lab.get('step').click()
    await lab.waitForStatus('paused')
    await expect(lab.get('samples')).toBeVisible()
  },
)

test('in a frame the page is compact, waits for a click and tells its height', async ({
  lab,
  page,
}) => {
  const host = `<!doctype html><title>A course</title><link rel="icon" href="data:,">
    <iframe src="./?v=1&amp;p=tiny#embed=1" title="Understory" width="900" height="300"></iframe>
    <script>addEventListener('message', ({ data }) => {
      if (data.type === 'understory:height') document.querySelector('iframe').height = data.height
    })</script>`
  await page.route('**/host.html', (route) =>
    route.fulfill({ body: host, contentType: 'text/html' }),
  )
  await page.goto('./host.html')
  const frame = page.frameLocator('iframe')
  await expect(frame.getByTestId('status')).toHaveAttribute('data-status', 'idle')
  await expect(frame.getByTestId('theme-dark')).toBeHidden()
  await expect(frame.getByTestId('adapter')).toBeHidden()
  await expect(frame.getByTestId('settings-toggle')).toBeHidden()
  await expect(frame.getByTestId('train')).toBeEnabled()
  await expect(frame.getByTestId('step-count')).toHaveText('–')
  await expect(frame.getByTestId('full-page')).toHaveAttribute('href', '?v=1&p=tiny')
  // As high as its content: nothing of it scrolls.
  const height = async () => Number(await page.locator('iframe').getAttribute('height'))
  await expect.poll(height).toBeGreaterThan(320)
  const overflow = () =>
    frame.locator('html').evaluate((root) => root.scrollHeight - root.clientHeight)
  await expect.poll(overflow).toBeLessThanOrEqual(1)
  expect(lab.page).toBe(page)
})

test('in the smallest window one button of the dialog stays in sight, and its backdrop has no light stripe', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await lab.open()
  await lab.get('share-options').click()
  await page.getByText('For a class: hide and lock').click()
  const dialog = lab.get('share')
  const close = dialog.getByRole('button', { name: 'Close' })
  await dialog.evaluate((element) => element.scrollTo(0, 0))
  await expect(lab.get('share-copy')).toBeInViewport({ ratio: 1 })
  await expect(close).toBeInViewport({ ratio: 1 })
  await dialog.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await expect(lab.get('share-copy')).toBeInViewport({ ratio: 1 })
  for (const theme of ['light', 'dark']) {
    // Where a scrollbar was, the ground is seen: as dark as the page behind the dialog.
    const [behind, paper] = await page.evaluate((theme) => {
      document.documentElement.dataset.theme = theme
      const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
      if (!canvas) throw new Error('no canvas')
      const painted = (...colours: string[]) => {
        for (const colour of colours) {
          canvas.fillStyle = colour
          canvas.fillRect(0, 0, 1, 1)
        }
        return [...canvas.getImageData(0, 0, 1, 1).data]
      }
      const ground = (of: Element, pseudo?: string) => getComputedStyle(of, pseudo).backgroundColor
      const open = document.querySelector('dialog:modal') ?? document.body
      return [
        painted(ground(document.documentElement)),
        painted(ground(document.body), ground(open, '::backdrop')),
      ]
    }, theme)
    for (const [i, part] of behind.entries())
      expect(Math.abs(part - paper[i]), theme).toBeLessThanOrEqual(3)
  }
})
