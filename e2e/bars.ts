// Measures the bars that stay in sight: how high they are, what of them is cut, what lies on what.
import type { Page } from '@playwright/test'
import { expect, type LabPage } from './lab_page.ts'

/** Where in the window the bars that stay in sight and the tab are. */
export const places = (page: Page) =>
  page.evaluate(() => {
    const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect()
    const [controls, tabs, work, panel] = ['.controls', '.tabs', '.work', '#tab-panel'].map(box)
    if (!controls || !tabs || !work || !panel) throw new Error('a bar is missing')
    return { controls, tabs, work, panel, settings: box('#settings-body') }
  })

/** Words of the bars of which the end cannot be read: the state, numbers, tools, phases and
 * tabs. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const parts =
      '.work :is(button, dt, dd, .status span), .header :is(button, .badge), .controls button'
    const sideways = [...document.querySelectorAll<HTMLElement>(parts)].flatMap((part) => {
      const { left, right, width, top } = part.getBoundingClientRect()
      // What is there for a screen reader alone is not cut, and neither is a number that has left
      // the row; a name in the line of phases is said in full by its title.
      const hasLeft = top >= (part.closest('dl')?.getBoundingClientRect().bottom ?? Infinity)
      const isUnseen = !part.checkVisibility() || width <= 2 || hasLeft
      const isLeftOut = isUnseen || part.closest('.phase-segment')
      if (isLeftOut) return []
      let [from, to] = [0, innerWidth]
      for (let at = part.parentElement; at; at = at.parentElement) {
        const box = at.getBoundingClientRect()
        const { display, overflowX } = getComputedStyle(at)
        if (display === 'contents' || overflowX === 'visible') continue
        from = Math.max(from, box.left)
        to = Math.min(to, box.right)
      }
      const mayStickOut =
        getComputedStyle(part).overflowX === 'visible' && part.tagName !== 'BUTTON'
      const isClipped = part.scrollWidth > part.clientWidth + 1 && !mayStickOut
      return left < from - 1 || right > to + 1 || isClipped ? [part.innerText] : []
    })
    const below = [...document.querySelectorAll<HTMLElement>('.phase-segment')].filter((phase) => {
      const { bottom } = phase.getBoundingClientRect()
      const words = [...phase.querySelectorAll<HTMLElement>('.phase-name, .phase-note')]
      return words.some(
        // Below a line of words is room that may be cut.
        (word) => word.checkVisibility() && word.getBoundingClientRect().bottom > bottom + 6,
      )
    })
    return [...sideways, ...below.map((phase) => phase.innerText)]
  })

/** Names in the line of phases that are cut: of what is in the first row. */
export const cutNames = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.phase-words')].flatMap((words) => {
      const name = words.querySelector('span')
      const isSeen = name && name.offsetTop < words.offsetTop + words.clientHeight
      return isSeen && name.scrollWidth > words.clientWidth + 1 ? [name.innerText] : []
    }),
  )

/** What is chosen in lists that are too narrow for it. */
export const cutChoices = (page: Page, lists: string): Promise<string[]> =>
  page.evaluate(
    (lists) =>
      [...document.querySelectorAll<HTMLSelectElement>(lists)].flatMap((list) => {
        const copy = list.cloneNode() as HTMLSelectElement
        const chosen = list.selectedOptions[0]
        copy.append(chosen.cloneNode(true))
        copy.style.cssText = 'position: fixed; width: auto; min-width: 0; max-width: none'
        list.after(copy)
        const isCut = copy.offsetWidth > list.offsetWidth
        copy.remove()
        return isCut ? [chosen.text] : []
      }),
    lists,
  )

/** Labels of the picture that lie on one another or outside of it. */
export const wrongLabels = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const picture = document.querySelector('.forest-canvas')?.getBoundingClientRect()
    const labels = [
      ...document.querySelectorAll<HTMLElement>('.forest-labels li, .forest-source, .forest-key'),
    ].map((label) => ({ text: label.innerText, box: label.getBoundingClientRect() }))
    return labels
      .filter(
        ({ box }, i) =>
          (picture && (box.bottom > picture.bottom + 1 || box.right > picture.right)) ||
          labels.some(
            (other, k) =>
              k > i &&
              Math.min(box.right, other.box.right) > Math.max(box.left, other.box.left) &&
              Math.min(box.bottom, other.box.bottom) > Math.max(box.top, other.box.top) + 1,
          ),
      )
      .map(({ text }) => text)
  })

/** Parts of the first screen that stick out of their card, or the page where it is too wide. */
export const sticksOut = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > innerWidth ? ['the page'] : []
    const says = document.querySelector('.forest-says')?.getBoundingClientRect()
    const out = [...document.querySelectorAll<HTMLElement>('.forest-says > *')].filter((part) => {
      const { right, bottom } = part.getBoundingClientRect()
      return says && (right > says.right + 1 || bottom > says.bottom + 1)
    })
    return [...wide, ...out.map(({ innerText }) => innerText)]
  })

/** Pixels of the window that bars take which do not scroll with the page. */
const taken = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const bars = ['.bar', '.work', '.controls'].flatMap((selector) => {
      const bar = document.querySelector(selector)
      const stays = bar && /fixed|sticky/.test(getComputedStyle(bar).position)
      return stays ? [bar.getBoundingClientRect()] : []
    })
    // What lies behind another one is counted once.
    const isAbove = ({ top, bottom }: DOMRect) => top + bottom < innerHeight
    const [above, below] = [bars.filter(isAbove), bars.filter((bar) => !isAbove(bar))]
    const from = Math.max(0, ...above.map(({ bottom }) => bottom))
    const to = Math.min(innerHeight, ...below.map(({ top }) => top))
    return from + innerHeight - to
  })

/** Pixels from the top of the page to what its first card shows. */
const headHeight = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const first = document.querySelector('main > :not([hidden])')
    if (!first) throw new Error('the page shows nothing')
    return first.getBoundingClientRect().top + scrollY
  })

/** Phones, 200 % of a window of 1440 × 900, the same at a larger zoom, and that window itself. */
const WINDOWS = [
  [360, 740],
  [390, 844],
  [844, 390],
  [720, 450],
  [1100, 500],
  [1440, 900],
] as const

/** In every size of window, in the state that the page is in: the bars are low, nothing of them is
 * cut, the tabs stay in sight, and a tab that is opened shows more than its first line. */
export async function expectLowBars(lab: LabPage, state: string): Promise<void> {
  const { page } = lab
  const size = page.viewportSize()
  for (const [width, height] of WINDOWS) {
    const where = `${state}, ${width} × ${height}`
    await page.setViewportSize({ width, height })
    await page.evaluate(() => scrollTo(0, 0))
    expect(await cutOff(page), where).toEqual([])
    expect(await wrongLabels(page), where).toEqual([])
    // Above what the page is about there are a row of its name and one of the experiment.
    if (width < 560) expect(await headHeight(page), where).toBeLessThanOrEqual(112)
    const begin = await places(page)
    if (width < 900 && height > 560)
      expect(begin.tabs.bottom, where).toBeLessThanOrEqual(begin.controls.top)
    await lab.get('tab-gpu').click()
    await lab.get('tab-learn').click()
    const opened = await places(page)
    const end = width < 900 && height > 560 ? opened.controls.top : height
    expect(end - opened.panel.top, where).toBeGreaterThanOrEqual(0.39 * height)
    await page.evaluate(() => scrollTo(0, 1200))
    const { tabs, work } = await places(page)
    expect(work.height, where).toBeLessThanOrEqual(width < 900 ? 164 : 96)
    expect(tabs.top, where).toBeGreaterThanOrEqual(0)
    // In a low window the controls stay above it.
    const stays = width >= 900 ? 152 : height > 560 ? 64 : 84
    expect(tabs.bottom, where).toBeLessThanOrEqual(stays)
    if (width < 900 || height <= 560)
      expect(await taken(page), where).toBeLessThanOrEqual(height / 5)
  }
  if (size) await page.setViewportSize(size)
}

/** Windows in which a lesson would leave the run too little room beside it. */
export const NARROW = [
  [1100, 800],
  [900, 700],
  [844, 390],
  [720, 450],
] as const

/** Where the first part of the page stands that the selector finds. */
export const boxOf = async (lab: LabPage, selector: string) => {
  const found = await lab.page.locator(selector).first().boundingBox()
  if (!found) throw new Error(`nothing is seen of ${selector}`)
  return { ...found, bottom: found.y + found.height }
}
