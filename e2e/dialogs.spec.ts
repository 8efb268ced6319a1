// Every dialog and every menu, open, in both themes and on both sizes: axe finds nothing.
import type { Page } from '@playwright/test'
import { fitsSideways, violations } from './axe.ts'
import { boxOf as box } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases=rl&phases.0.steps=4&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8${QUICK}`
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** Behind a dialog the switch of themes cannot be pressed, and a press beside a menu closes it. */
const setTheme = (page: Page, theme: 'light' | 'dark' | 'system') =>
  page.getByTestId(`theme-${theme}`).evaluate((input: HTMLInputElement) => input.click())

/** What is open now: axe finds nothing in it. */
async function expectOpen(lab: LabPage, name: string, within: string): Promise<void> {
  const { page } = lab
  await expect(page.locator(within).first(), name).toBeVisible()
  const before = page.viewportSize()
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const theme of ['light', 'dark'] as const) {
      await setTheme(page, theme)
      const found = await violations(page, within, theme === 'dark')
      expect.soft(found, `${name}, ${size.width} px, ${theme}`).toEqual([])
    }
    expect.soft(await fitsSideways(page), `${name} fits ${size.width} px`).toBe(true)
  }
  await setTheme(page, 'system')
  if (before) await page.setViewportSize(before)
}

const DIALOG = 'dialog[open]'

/** Opens the palette, and chooses what is found first. */
async function command(lab: LabPage, query: string): Promise<void> {
  await lab.get('commands').click()
  await lab.get('palette-input').fill(query)
  await lab.page.keyboard.press('Enter')
}

test('axe finds nothing in any dialog', LONG_ONLY, async ({ lab, page }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  const close = async () => {
    await page.keyboard.press('Escape')
    await expect(page.locator(DIALOG)).toHaveCount(0)
  }
  for (const id of ['commands', 'help', 'open-presets', 'share-options', 'open-tools'] as const) {
    await lab.get(id).click()
    if (id === 'open-tools') await lab.get('tool-write').click()
    // Every fold of it, too.
    await page
      .locator(`${DIALOG} details`)
      .evaluateAll((all) => all.map((fold) => fold.toggleAttribute('open', true)))
    await expectOpen(lab, id, DIALOG)
    await close()
  }

  await lab.get('open-reward').click()
  await lab.get('reward-add').selectOption('program')
  await expect(lab.get('program-help')).toBeVisible()
  await expectOpen(lab, 'a reward and a program', DIALOG)
  await close()

  await lab.get('open-data').click()
  await expectOpen(lab, 'data', DIALOG)
  await lab.get('data-example').click()
  await expect(page.locator(DIALOG)).toContainText('rows to train on')
  await expectOpen(lab, 'data of a file', DIALOG)
  await close()

  await lab.get('open-model').click()
  await expectOpen(lab, 'models', DIALOG)
  await lab.get('open-shipped-small').click()
  await lab.get('model-read').click()
  await expect(page.locator(DIALOG)).toContainText('Entropy of every layer’s policy')
  await lab.get('chat-text').fill('312>')
  await lab.get('chat-send').click()
  await expect(page.locator(DIALOG)).toContainText('Model')
  await expectOpen(lab, 'a model that was read and asked', DIALOG)
  await close()

  await command(lab, 'export a model')
  await expect(lab.get('export-download')).toBeEnabled()
  await expectOpen(lab, 'export', DIALOG)
  await close()

  await page.locator('.term').first().click()
  await page.locator('.definition').getByRole('button', { name: 'All terms' }).click()
  await expectOpen(lab, 'all terms', DIALOG)
})

test('axe finds nothing in any menu, and in what unfolds', LONG_ONLY, async ({ lab, page }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('add-phase').click()
  await expectOpen(lab, 'a phase to add', '[data-testid="add-phases"]')
  await lab.get('add-phase').click()

  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  await lab.get('kept').locator('summary').click()
  await expectOpen(lab, 'what is kept', '[data-testid="kept"]')
  await lab.get('kept').locator('summary').click()
  await lab.get('reward-chart-menu').locator('summary').click()
  await expectOpen(lab, 'the menu of a chart', '[data-testid="reward-chart-menu"]')
  await lab.get('reward-chart-full-screen').click()
  await expectOpen(lab, 'a chart on the whole screen', '[data-testid="reward-chart-full"]')
  await page.keyboard.press('Escape')

  await lab.show('runs')
  await lab.get('runs-columns').click()
  await expectOpen(lab, 'the columns of the table', '[data-testid="runs"]')
  await lab.get('runs-columns').click()
  await lab.get('runs-filter').click()
  await expectOpen(lab, 'a filter', '[data-testid="runs"]')
  await lab.get('runs-filter').click()
  await lab.get('edit-run').first().click()
  await expectOpen(lab, 'what is said of a run', '[data-testid="runs"]')

  await lab.show('study')
  await lab.get('study-new').click()
  await lab.get('study-make').click()
  await expectOpen(lab, 'a study that is not complete', '.study')
})

test('a dialog leaves the page as wide as it was, and the head has controls of one height', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  await lab.waitForStatus('idle')
  const { width } = await box(lab, '.header')
  for (const opener of ['commands', 'help']) {
    await lab.get(opener).click()
    await expect(page.locator('dialog:modal')).toBeVisible()
    expect((await box(lab, '.header')).width, opener).toBe(width)
    await page.keyboard.press('Escape')
    await expect(page.locator('dialog:modal')).toHaveCount(0)
  }
  for (const [width, height] of [
    [390, 844],
    [720, 450],
    [820, 1180],
    [1000, 800],
  ]) {
    await page.setViewportSize({ width, height })
    const heights = await page
      .locator('.header button')
      .filter({ visible: true })
      .evaluateAll((all) => all.map((button) => button.getBoundingClientRect().height))
    expect(new Set(heights).size, `${width}`).toBe(1)
  }
})

test('the head of a dialog keeps its name and its way out in one row on a phone', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open()
  await lab.waitForStatus('idle')
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 })
    for (const ways of [
      ['share-options'],
      ['share-options', 'share-export'],
      ['open-presets'],
      ['settings-toggle', 'open-reward'],
      ['open-tools'],
      ['open-data'],
    ]) {
      const name = `${ways.at(-1)}, ${width}`
      for (const way of ways) await lab.get(way).click()
      const head = page.locator('dialog[open] :is(.dialog-head, .reward-head)')
      const close = head.getByRole('button')
      await expect(close, name).toHaveText(/^(Close|Done)$/)
      // Read at once: a dialog that still grows moves both.
      const [left, right] = await head.evaluate((element) =>
        [...element.querySelectorAll('h2, button')].map((one) =>
          one.getBoundingClientRect().toJSON(),
        ),
      )
      if (!left || !right) throw new Error(`no head: ${name}`)
      expect(left.x + left.width, name).toBeLessThanOrEqual(right.x)
      const middle = right.y + right.height / 2
      expect(left.y + left.height / 2, name).toBeCloseTo(middle, 0)
      // What presets are searched by has the width, and what they are chosen by one row below it.
      if (ways[0] === 'open-presets') {
        const search = await box(lab, '[data-testid=gallery-search]')
        expect(search.width, name).toBeGreaterThan(0.75 * width)
        for (const kind of ['task', 'method', 'size'])
          expect((await box(lab, `[data-testid=gallery-${kind}]`)).y, name).toBeGreaterThanOrEqual(
            search.bottom,
          )
        const [task, size] = [
          await box(lab, '[data-testid=gallery-task]'),
          await box(lab, '[data-testid=gallery-size]'),
        ]
        expect(size.y, name).toBeCloseTo(task.y, 0)
      }
      await close.click()
      await expect(page.locator('dialog[open]'), name).toHaveCount(0)
    }
    await lab.get('settings-toggle').click()
  }
})

test('Back closes any dialog and nothing else', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.show('inside')
  await lab.show('tokens')
  const address = page.url()
  const entries = () => page.evaluate(() => history.length)
  const isMarked = () => page.evaluate(() => history.state?.over === true)
  const dialog = page.locator('dialog:modal')
  const back = () => page.evaluate(() => history.back())
  const most = (await entries()) + 1
  for (const ways of [
    ['commands'],
    ['share-options'],
    ['share-options', 'share-export'],
    ['open-presets'],
    ['open-model'],
    ['open-data'],
    ['help'],
  ]) {
    const name = `${ways}`
    for (const way of ways) await lab.get(way).click()
    await expect(dialog, name).toHaveCount(1)
    await expect.poll(isMarked, name).toBe(true)
    expect(await entries(), name).toBe(most)
    // What is said in it moves no button.
    if (name === 'open-model') expect((await box(lab, DIALOG)).y).toBe(12)
    await back()
    await expect(dialog, name).toHaveCount(0)
    await expect(page.getByTestId('tab-tokens'), name).toHaveAttribute('aria-selected', 'true')
    expect(page.url(), name).toBe(address)
  }
  // A dialog that goes elsewhere leaves no entry of its own.
  await command(lab, 'Inside')
  await expect(page.getByTestId('tab-inside')).toHaveAttribute('aria-selected', 'true')
  expect(await entries()).toBe(most)
  expect(await isMarked()).toBe(false)
  await back()
  await expect(page.getByTestId('tab-tokens')).toHaveAttribute('aria-selected', 'true')
  // Nor does one that was open when the page was loaded again.
  await lab.get('open-presets').click()
  await expect.poll(isMarked).toBe(true)
  await page.reload()
  await lab.waitForStatus('idle')
  await expect.poll(isMarked).toBe(false)
  await expect(page.getByTestId('tab-tokens')).toHaveAttribute('aria-selected', 'true')
  await back()
  await expect(page.getByTestId('tab-inside')).toHaveAttribute('aria-selected', 'true')
})
