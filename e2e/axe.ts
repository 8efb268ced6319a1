// Finds with axe what is wrong on a page, and checks that it fits a narrow screen.
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect, type LabPage } from './lab_page.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds wrong below an element, as lines that name the rule and the element. */
export async function violations(
  page: Page,
  within = 'html',
  isColourOnly = false,
): Promise<string[]> {
  // Of what passes it would describe every element; and there are no frames, for which it would
  // open a page of its own.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode()
  axe.include(within)
  // The themes differ in nothing but colours.
  const rules = isColourOnly ? axe.withRules('color-contrast') : axe.withTags(TAGS)
  const { violations } = await rules.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .map(({ target, failureSummary }) => `${id}: ${target.join(' ')} (${failureSummary})`)
      // A phase of few steps is as narrow as they are; the settings have the same ones in full
      // (WCAG 2.5.8, equivalent).
      .filter((line) => !/^target-size: .*\.phase-segment \(/.test(line)),
  )
}

export const fitsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const

/** The page as it is now, wide and on a phone, in both themes: axe finds nothing, and nothing is
 * wider than the page. It is left as it was found. */
export async function expectClean(lab: LabPage, name: string, within = 'html'): Promise<void> {
  const { page } = lab
  const before = page.viewportSize()
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const theme of ['light', 'dark'] as const) {
      await lab.get(`theme-${theme}`).check({ force: true })
      const where = `${name}, ${size.width} px, ${theme}`
      expect(await violations(page, within, theme === 'dark'), where).toEqual([])
    }
    expect(await fitsSideways(page), `${name} fits ${size.width} px`).toBe(true)
  }
  await lab.get('theme-system').check({ force: true })
  if (before) await page.setViewportSize(before)
}

/** A narrow page as it is now, in both themes: axe finds nothing, and no card is wider than the
 * page or its own border. A phase's long name is out of sight where its short one is shown. */
export async function expectSound(lab: LabPage): Promise<void> {
  const { page } = lab
  for (const theme of ['light', 'dark'] as const) {
    await lab.get(`theme-${theme}`).check({ force: true })
    expect(await violations(page, 'html', theme === 'dark'), theme).toEqual([])
  }
  expect(await fitsSideways(page)).toBe(true)
  for (const card of await page.locator('main > *').all()) {
    const sticksOut = await card.evaluate((element) =>
      [...element.querySelectorAll('*')].some(
        (part) =>
          part.getBoundingClientRect().right > element.getBoundingClientRect().right + 1 &&
          !part.closest('.visually-hidden, .scroll, .phase-words, canvas, svg'),
      ),
    )
    expect(sticksOut, await card.evaluate(({ className }) => className)).toBe(false)
  }
}
