// Ways in: presets with pictures, the panel of a phase, and a board of one's own charts that a link
// carries.
import { violations } from './axe.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

test('a preset is found by its tags and chosen with the keyboard', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  await lab.waitForStatus('idle')
  // Before a first run a recording fills the charts, and nothing else of the page.
  await lab.get('at-rest').scrollIntoViewIfNeeded()
  await expect(lab.get('at-rest')).toContainText(/A recording of “.+”, made on .+; press Train/)
  await expect(page.locator('.charts')).toHaveAttribute('data-empty', 'false')
  await expect(lab.get('train-here')).toBeEnabled()
  await expect(lab.get('intro')).toBeVisible()
  // Values beside the lines are of the step under the pointer, and their points are marked.
  await lab.get('reward-chart').locator('.plot-area').hover()
  const labels = lab.get('reward-chart').locator('xpath=..').locator('.line-labels')
  const dot = labels.locator('.is-read circle').first()
  await expect(dot).toBeVisible()
  const middle = async (at: typeof dot) => {
    const { y = 0, height = 0 } = (await at.boundingBox()) ?? {}
    return y + height / 2
  }
  // The name is beside its value, and the step on the axis, where no line is.
  expect(Math.abs((await middle(dot)) - (await middle(labels.locator('li').first())))).toBeLessThan(
    30,
  )
  const below = await lab
    .get('reward-chart')
    .locator('.crosshair')
    .evaluate(
      (line) => Number.parseFloat(getComputedStyle(line, '::after').top) - line.clientHeight,
    )
  expect(below).toBeGreaterThanOrEqual(0)
  await lab.get('open-presets').focus()
  await page.keyboard.press('Enter')
  const dialog = lab.get('presets-dialog')
  await expect(dialog).toBeVisible()
  await expect(lab.get('preset-card-first-steps').getByRole('button')).toHaveAttribute(
    'aria-current',
    'true',
  )
  // The picture is drawn from runs, and says in words what it shows; nobody has run what has none.
  await expect(lab.get('preset-card-first-steps')).toContainText(
    /Mean reward of samples \d+ % → \d+ % in 45 steps.*5 runs/,
  )
  await expect(lab.get('preset-card-qwen3-0-6b-gsm8k')).toContainText('No run of it is recorded')
  // An adapter that nobody knows is probed while the page rests.
  await expect(lab.get('preset-card-tiny')).toContainText(/Takes about \d+ \w+ here, an estimate/)
  expect(await violations(page, '[data-testid="presets-dialog"]')).toEqual([])

  // The longest name of a method wraps in its card.
  const past = await dialog
    .locator('.gallery-card')
    .evaluateAll((cards) => cards.filter((card) => card.scrollWidth > card.clientWidth).length)
  expect(past).toBe(0)

  await lab.get('gallery-search').fill('teacher')
  await expect(lab.get('gallery-count')).toHaveText(/^\d of \d+ presets\.$/)
  await expect(lab.get('preset-card-tiny')).toHaveCount(0)
  await lab.get('gallery-search').fill('')
  await lab.get('gallery-method').selectOption('DAPO')
  await expect(lab.get('gallery-count')).toContainText('1 of')
  await lab.get('gallery-method').focus()
  for (const _ of ['size', 'card']) await page.keyboard.press('Tab')
  await expect(lab.get('preset-card-tiny-dapo').getByRole('button')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(lab.get('preset')).toHaveValue('tiny-dapo')
  await expect(lab.get('open-presets')).toBeFocused()
  await expect(lab.get('estimate')).toContainText('estimated from a probe')
})

test('charts say that a recording is loading, and where it is broken that nothing is measured', async ({
  lab,
  page,
}) => {
  const charts = page.locator('.charts')
  const inCharts = () =>
    charts
      .locator('.plot')
      .first()
      .evaluate((plot) => getComputedStyle(plot, '::after').content)
  let answer = (_: boolean): void => {}
  const comes = new Promise<boolean>((resolve) => {
    answer = resolve
  })
  await page.route('**/recordings/**', async (route) => {
    if (await comes) await route.continue()
    else await route.fulfill({ json: {} })
  })
  await lab.open()
  await lab.get('at-rest').scrollIntoViewIfNeeded()
  await expect(lab.get('at-rest')).toContainText('Loading a recorded run')
  await expect.poll(inCharts).toBe('"loading a recorded run …"')
  answer(false)
  await expect(lab.get('at-rest').getByRole('alert')).toBeVisible()
  await expect.poll(inCharts).toBe('"nothing measured yet"')
})

test('a phase opens its panel: what it inherits is grey, what it changes is marked', async ({
  lab,
  page,
}) => {
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await lab.get('phases').locator('.phase-segment').nth(2).click()
  const clip = lab.get('field-phases-2-actor-clip_ratio_low')
  const field = clip.locator('xpath=ancestor::div[contains(@class, "field")][@data-inherited]')
  await expect(field).toBeVisible()
  await clip.fill('0.1')
  await clip.blur()
  await expect(field).toHaveCount(0)

  // On a phone the page goes there when it is asked to. A short phase is narrow there, and its end
  // is dragged above its name.
  await page.setViewportSize({ width: 390, height: 844 })
  await lab
    .get('phases')
    .locator('.phase-segment')
    .nth(1)
    .click({ position: { x: 4, y: 28 } })
  await page.getByRole('button', { name: 'Settings of phase 2' }).click()
  await expect(page.locator('summary', { hasText: /^Phase 2$/ })).toBeInViewport()
  await expect(page.locator('#field-phases-1-steps')).toBeInViewport()
})

test(
  'a metric is pinned to the board, and the link brings the board back',
  LONG_ONLY,
  async ({ lab, page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.withoutMoments()
    await lab.open(
      `v=1&p=tiny&phases=sft&phases.0.steps=2&phases.0.batch_size=8&validation.prompts=8${QUICK}`,
    )
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 300_000)
    await lab.get('more-charts').locator('summary').first().click()
    await lab.get('more-search').fill('dispatches')
    await lab.get('pin-perf/dispatches').click()
    await expect(lab.get('board')).toContainText('dispatches')
    await expect(page).toHaveURL(/[#&]board=perf%2Fdispatches/)

    await lab.get('copy-link').click()
    // A link with curves takes a moment.
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(copied).toContain('board=perf%2Fdispatches')
    const link = await copied()
    // The page loads itself anew with a link that it is given.
    await page.goto(link)
    await expect(lab.get('board')).toContainText('dispatches')
    await lab.get('pin-perf/dispatches').click()
    await expect(lab.get('board')).toHaveCount(0)
    await expect(page).not.toHaveURL(/board=/)
  },
)
