// The picture that the page opens with: a recorded run, then the person's own.
import { TABS, type Tab } from '../src/document/links/view.ts'
import { expectClean, fitsSideways, violations } from './axe.ts'
import { expectLowBars, places } from './bars.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK = `v=1&p=tiny&phases.0.steps=6&phases.1.steps=2&phases.2.steps=2${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`

/** The bars are low and the tab begins in the first screen, whichever tab is open; on a phone the
 * bars take a fifth of the height. `begins` is the lowest place of a tab, wide and on a phone. */
async function expectOneWorkspace(
  lab: LabPage,
  begins: { readonly wide: number; readonly phone: number },
): Promise<void> {
  const { page } = lab
  const open = async (tab: Tab) => {
    await lab.get(`tab-${tab}`).click()
    await expect(lab.get(`tab-${tab}`)).toHaveAttribute('aria-selected', 'true')
    await expect(page.locator('#tab-panel')).not.toContainText('Opening …')
  }
  for (const tab of TABS) {
    await page.evaluate(() => scrollTo(0, 0))
    await open(tab)
    const { panel, work } = await places(page)
    expect(work.height, tab).toBeLessThanOrEqual(96)
    expect(panel.top, tab).toBeLessThanOrEqual(begins.wide)
    // Scrolled away, it begins below the bars again.
    await page.evaluate(() => scrollTo(0, 900))
    await open(tab === 'learn' ? 'inside' : 'learn')
    await expect(async () => {
      const again = await places(page)
      expect(again.panel.top, tab).toBeGreaterThanOrEqual(again.work.bottom)
      expect(again.panel.top, tab).toBeLessThanOrEqual(begins.wide)
    }).toPass({ timeout: 10_000 })
  }
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  for (const tab of TABS) {
    await page.evaluate(() => scrollTo(0, 0))
    await open(tab)
    await page.evaluate(() => scrollTo(0, 0))
    await expect
      .poll(async () => (await places(page)).panel.top, `${tab} on a phone`)
      .toBeLessThanOrEqual(begins.phone)
    expect(await fitsSideways(page), `${tab} on a phone`).toBe(true)
    await page.evaluate(() => scrollTo(0, 1500))
    const phone = await places(page)
    expect(phone.settings).toBeUndefined()
    expect(phone.work.bottom, `${tab} on a phone`).toBeLessThanOrEqual(64)
    expect(phone.work.bottom + phone.controls.height).toBeLessThanOrEqual(844 / 5)
  }
  await page.evaluate(() => scrollTo(0, 0))
  await open('learn')
  if (size) await page.setViewportSize(size)
}

test(
  'a recorded run plays, marked as one, and the own run takes its place',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await lab.open(LINK)
    const forest = lab.get('forest')
    await expect(forest).toHaveAttribute('data-live', 'false')
    const first = Number(await forest.getAttribute('data-step'))
    await expect.poll(async () => Number(await forest.getAttribute('data-step'))).not.toBe(first)
    await expect(page.locator('.forest-source')).toContainText('A recorded first run')
    await expect(page.locator('#forest-words')).toContainText('from the canopy down: final policy')
    expect(await violations(page, '.forest')).toEqual([])
    await lab.waitForStatus('idle')
    await expectOneWorkspace(lab, { wide: 520, phone: 640 })
    await expectLowBars(lab, 'before a run')
    await lab.get('train-here').click()
    await lab.waitForStatus('finished', 200_000)
    await expect(forest).toHaveAttribute('data-live', 'true')
    await expect(forest).toHaveAttribute('data-step', '10')
    await expect(lab.get('end-card')).toContainText('Reinforcement of the whole model, 2 steps')
    await expectOneWorkspace(lab, { wide: 400, phone: 440 })
    await expectLowBars(lab, 'a finished run')
    await expectClean(lab, 'a finished run')
    await lab.get('next-lesson').click()
    await expect(lab.get('lessons')).toContainText('BuPO’s two phases')
    await expect(lab.get('train-here')).toBeHidden()
  },
)

test(
  'where motion is unwelcome the picture stands still at the end of the run',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await lab.open(LINK)
    await expect(lab.get('forest')).toHaveAttribute('data-step', '45')
    const picture = () =>
      lab.get('forest').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL())
    const before = await picture()
    expect(before.length).toBeGreaterThan(10_000)
    await lab.waitForStatus('idle')
    expect(await picture()).toBe(before)
  },
)
