// Tests the page for people who do not use a mouse, see little, or have a small screen.
import { TABS } from '../src/document/links/view.ts'
import { expectSound, fitsSideways, violations } from './axe.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { STATES } from './states.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases=rl&phases.0.steps=40&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8${QUICK}`
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** No part is wider than the page. */
async function checkPlaces(lab: LabPage): Promise<void> {
  for (const tab of TABS) {
    await lab.show(tab)
    await expect(lab.page.locator('#tab-panel')).not.toContainText('Opening …')
    expect(await fitsSideways(lab.page), `${tab} fits sideways`).toBe(true)
  }
}

/** Every part in both themes; around the parts the page is the same. */
async function checkTabs(lab: LabPage): Promise<void> {
  const { page } = lab
  for (const tab of TABS) {
    await lab.show(tab)
    await expect(page.locator('#tab-panel')).not.toContainText('Opening …')
    const within = tab === TABS[0] ? 'html' : 'main'
    await lab.get('theme-light').check({ force: true })
    expect(await violations(page, within), tab).toEqual([])
    await lab.get('theme-dark').check({ force: true })
    expect(await violations(page, within, true), `${tab}, dark`).toEqual([])
    expect(await fitsSideways(page), `${tab} fits sideways`).toBe(true)
  }
}

for (const viewport of SIZES)
  test.describe(`${viewport.width} px`, () => {
    test.use({ viewport })

    test('axe finds nothing on any part', async ({ lab, page }) => {
      await lab.open(LINK)
      await lab.waitForStatus('idle')
      expect(await violations(page)).toEqual([])
      // Every part: below, where a run is finished, and wide; narrow ones are in other places.
      if (!process.env.LONG_TESTS) return checkPlaces(lab)
      await lab.get('step').click()
      await lab.waitForStatus('paused', 120_000)
      await lab.get('more-charts').locator('summary').first().click()
      await lab.get('samples-held_out').check({ force: true })
      await checkTabs(lab)
    })

    // The wide page has the same ones.
    if (viewport === SIZES[0] && !process.env.LONG_TESTS) return
    test('axe finds nothing in the dialogs, the open settings and the search', async ({
      lab,
      page,
    }) => {
      await lab.open(LINK)
      await lab.waitForStatus('idle')
      // The parts are looked at above; the smallest one leaves time for the rest.
      await lab.show('runs')
      // They lie over a narrow page.
      const isSheet = viewport.width < 900
      for (const theme of ['light', 'dark'] as const) {
        const check = async (name: string, within: string) =>
          expect(await violations(page, within, theme === 'dark'), `${name}, ${theme}`).toEqual([])
        await lab.get(`theme-${theme}`).check({ force: true })
        if (isSheet) await lab.get('settings-toggle').click()
        await lab.get('settings-search').fill('')
        await page.evaluate(() => {
          for (const fold of document.querySelectorAll('.settings details'))
            fold.toggleAttribute('open', true)
        })
        await check('settings', '.settings')
        await lab.get('settings-search').fill('learning rate')
        await check('search', '.settings')
        expect(await fitsSideways(page)).toBe(true)
        if (isSheet) await lab.get('settings-toggle').click()
        await lab.get('commands').click()
        await check('palette', 'dialog[open]')
        await lab.get('palette-input').fill('re')
        await check('palette with a query', 'dialog[open]')
        await page.keyboard.press('Escape')
        // A phone has no keys to list.
        if (viewport.width < 560) continue
        await lab.get('help').click()
        await check('help', 'dialog[open]')
        expect(await fitsSideways(page)).toBe(true)
        await page.keyboard.press('Escape')
      }
    })
  })

/** All parts in every state, only where LONG_TESTS is set. A run that waits is looked at where a
 * person teaches (rlhf.spec.ts). */
for (const [state, reach] of process.env.LONG_TESTS ? Object.entries(STATES) : [])
  test(`axe finds nothing on a page whose run is ${state}, in either theme`, async ({
    lab,
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await reach(lab)
    await expectSound(lab)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      await checkTabs(lab)
    }
  })

test('Tab reaches the main controls in the order of the page, and tabs are moved by arrows', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await expect(lab.get('undo')).toBeVisible()
  const wanted = ['commands', 'preset', 'train', 'step', 'copy-link', 'help', 'undo', 'tab-learn']
  const met: string[] = []
  for (let i = 0; i < 120 && met.at(-1) !== 'tab-learn'; i++) {
    await page.keyboard.press('Tab')
    const id = await page.evaluate(() => document.activeElement?.getAttribute('data-testid'))
    if (id && wanted.includes(id)) met.push(id)
  }
  expect(met).toEqual(wanted)
  await page.keyboard.press('ArrowRight')
  await expect(lab.get('tab-inside')).toBeFocused()
  await expect(lab.get('tab-inside')).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('End')
  await expect(lab.get('tab-gpu')).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Home')
  await expect(lab.get('tab-learn')).toBeFocused()
})

test('the keyboard reaches Train in three presses, and the phases in ten', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await expect(lab.get('train-here')).toBeEnabled()
  // The skip link leads past the head of the page and the settings.
  for (const key of ['Tab', 'Enter', 'Tab']) await page.keyboard.press(key)
  await expect(lab.get('train-here')).toBeFocused()
  let presses = 3
  const isPhase = () =>
    page.evaluate(() => document.activeElement?.matches('.phase-segment') === true)
  while (!(await isPhase()) && presses < 10) {
    await page.keyboard.press('Tab')
    presses++
  }
  expect(await isPhase(), `${presses} presses`).toBe(true)
})

test('what has the focus can be seen', async ({ lab, page }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  // The tab comes after the first look; before it there are fewer controls to reach.
  await expect(lab.get('played-above')).toBeVisible()
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab')
    const outline = () =>
      page.evaluate(() => {
        // A control that is drawn by its label, as the theme's are, shows its focus there.
        const own = document.activeElement
        const shown = own?.matches('.theme-switch input, .range input') ? own.closest('label') : own
        const style = shown && getComputedStyle(shown)
        const name = own?.getAttribute('data-testid') ?? own?.tagName
        return style ? `${style.outlineStyle} ${style.outlineWidth} of ${name}` : ''
      })
    await expect.poll(outline, { message: `Tab ${i + 1}` }).toMatch(/^(solid|auto) [1-9]/)
  }
})

test('the state of the run is announced, not more often than every ten seconds', async ({
  lab,
  page,
}) => {
  await page.clock.install()
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await page.clock.runFor(11_000)
  const announcer = lab.get('announcer')
  await expect(announcer).toHaveText('Ready to train')
  await page.clock.runFor(11_000)
  await lab.get('step').click()
  await expect(async () => {
    await page.clock.runFor(1000)
    await expect(lab.get('status')).toHaveAttribute('data-status', 'paused', { timeout: 500 })
  }).toPass({ timeout: 120_000 })
  // Preparing, training and the pause have gone by; the last one is said when it is time.
  await page.clock.runFor(11_000)
  await expect(announcer).toHaveText(/^Paused, phase 1 of 1/)
})

test(
  'at 200 % zoom and on a phone nothing runs over the side, and the big button holds its words',
  LONG_ONLY,
  async ({ browser, baseURL }) => {
    for (const viewport of [
      { width: 720, height: 450 },
      { width: 390, height: 844 },
      { width: 360, height: 740 },
    ]) {
      const context = await browser.newContext({
        viewport,
        deviceScaleFactor: 2,
        ...(baseURL ? { baseURL } : {}),
      })
      const page = await context.newPage()
      await page.goto(`./?${LINK}`)
      await expect(page.getByTestId('status')).toHaveAttribute('data-status', 'idle')
      for (const tab of TABS) {
        await page.getByTestId(`tab-${tab}`).click()
        expect(await fitsSideways(page), `${tab} at ${viewport.width}`).toBe(true)
      }
      const overflow = await page.getByTestId('train').evaluate((button) => {
        const label = [...button.childNodes].find((node) => node.nodeType === Node.TEXT_NODE)
        if (label) label.textContent = 'Train again'
        const { paddingLeft, paddingRight } = getComputedStyle(button)
        return (
          button.scrollWidth > button.clientWidth ||
          button.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) <
            100
        )
      })
      expect(overflow, `Train again at ${viewport.width}`).toBe(false)
      await context.close()
    }
  },
)

test('who wants less motion gets none', async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    ...(baseURL ? { baseURL } : {}),
  })
  const page = await context.newPage()
  await page.goto(`./?${LINK}`)
  await expect(page.getByTestId('status')).toHaveAttribute('data-status', 'idle')
  const moving = await page.evaluate(() => document.getAnimations().length)
  expect(moving).toBe(0)
  await context.close()
})

test('where the system chooses all colours, data keep theirs and what is chosen can be told', async ({
  browser,
  baseURL,
}) => {
  const context = await browser.newContext({
    forcedColors: 'active',
    ...(baseURL ? { baseURL } : {}),
  })
  const page = await context.newPage()
  await page.goto('./')
  await page.getByTestId('at-rest').waitFor()
  const coloursOf = (query: string, property: string) =>
    page
      .locator(query)
      .evaluateAll(
        (all, name) => all.map((one) => getComputedStyle(one).getPropertyValue(name)),
        property,
      )
  const [first, ...others] = await coloursOf('.work > .tabs button', 'border-bottom-color')
  expect(new Set(others).size).toBe(1)
  expect(others).not.toContain(first)
  expect(new Set(await coloursOf('.theme-switch label', 'background-color')).size).toBe(2)
  // What is off has the colour of what is off, and the ends of phases that of words.
  const [off] = await coloursOf('.bar button:disabled', 'color')
  expect(await coloursOf('.history-button', 'color')).toEqual([off, off])
  const ends = await page
    .locator('.phase-boundary')
    .evaluateAll((all) => all.map((end) => getComputedStyle(end, '::before').backgroundColor))
  const [ink] = await coloursOf('body', 'color')
  expect(new Set(ends)).toEqual(new Set([ink]))
  await page.getByTestId('tab-tokens').click()
  await page.locator('.tok[class*="-"]').first().waitFor()
  for (const data of ['.tok', '.colour-ramp > *', '.phase-track'])
    expect(new Set(await coloursOf(data, 'background-color')), data).not.toEqual(
      new Set(['rgb(255, 255, 255)']),
    )
  await context.close()
})
