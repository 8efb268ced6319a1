// The built page in an installed Firefox without WebGPU: nothing is wrong in the console or for
// axe, and what Firefox once drew differently looks as it should.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test as base, expect } from '@playwright/test'
import { type Firefox, findFirefox, openFirefox } from './firefox.ts'
import { LONG_ONLY } from './lab_page.ts'

const executable = findFirefox()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const test = base.extend<{ firefox: Firefox }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from it.
  firefox: async ({}, use) => {
    const firefox = await openFirefox(executable ?? '')
    await use(firefox)
    await firefox.close()
  },
})

test.skip(
  executable === undefined,
  'No Firefox is installed: put firefox or firefox-esr into PATH, or name it in FIREFOX',
)

const byId = (id: string) => `document.querySelector('[data-testid="${id}"]')`
const press = (firefox: Firefox, id: string) => firefox.ask(`${byId(id)}.click()`)

/** What axe finds wrong on the page as it is. */
const violations = (firefox: Firefox) =>
  firefox.ask<string[]>(`axe.run(document, {
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => id + ': ' + target.join(' '))
      .filter((line) => !/^target-size: .*\\.phase-segment/.test(line))))`)

async function openPage(firefox: Firefox, baseURL: string | undefined): Promise<void> {
  await firefox.resize(1440, 900)
  await firefox.open(baseURL ?? '')
  await firefox.until(byId('lacks-gpu'))
  // Its own value is of no use here.
  await firefox.ask(`(() => { ${axe}; return true })()`)
}

test(
  'Firefox without WebGPU shows Learning, Inside and Runs, clean in both themes and both sizes',
  LONG_ONLY,
  async ({ firefox, baseURL }) => {
    await openPage(firefox, baseURL)
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ]) {
      await firefox.resize(width, height)
      for (const tab of ['learn', 'inside', 'runs']) {
        await press(firefox, `tab-${tab}`)
        await firefox.until(`!document.querySelector('#tab-panel').innerText.includes('Opening …')`)
        for (const theme of ['light', 'dark']) {
          await press(firefox, `theme-${theme}`)
          expect(await violations(firefox), `${tab}, ${width} px, ${theme}`).toEqual([])
        }
        const fits = 'document.documentElement.scrollWidth <= innerWidth'
        expect(await firefox.ask(fits), `${tab} fits ${width} px`).toBe(true)
      }
    }
    expect(firefox.lines).toEqual([])
  },
)

test(
  'in Firefox hidden captions stay hidden, the timeline has no scrollbar, sliders are green and a recording says its whole date',
  LONG_ONLY,
  async ({ firefox, baseURL }) => {
    await openPage(firefox, baseURL)
    await press(firefox, 'watch-recording')
    await firefox.until(`${byId('replay')} && Number(${byId('step-count')}.textContent) > 0`)
    // A caption is a box of the table in Firefox, whatever size it is given.
    const captions = await firefox.ask<number[][]>(`[...document.querySelectorAll('caption')]
    .filter((caption) => caption.matches('.visually-hidden, .visually-hidden *'))
    .map((caption) => { const box = (caption.closest('.visually-hidden') ?? caption)
      .getBoundingClientRect(); return [box.width, box.height] })`)
    expect(captions.length).toBeGreaterThan(0)
    for (const size of captions) expect(Math.max(...size)).toBeLessThanOrEqual(1)
    const bars = await firefox.ask<number[]>(
      `[...document.querySelectorAll('.axis-scroll, .tabs')].map((part) => part.offsetHeight - part.clientHeight)`,
    )
    for (const height of bars) expect(height).toBeLessThanOrEqual(2)
    const thumbs = await firefox.ask<string[]>(`[...document.styleSheets]
    .flatMap(function all({ cssRules }) {
      return [...cssRules].flatMap((rule) => [rule, ...(rule.cssRules ? all(rule) : [])])
    })
    .filter(({ selectorText }) => selectorText?.includes('::-moz-range-thumb'))
    .map(({ style }) => style.background || style.backgroundColor)`)
    expect(thumbs.join()).toContain('var(--accent)')
    const badge = await firefox.ask<string>(`document.querySelector('.replay-badge').innerText`)
    expect(badge.replace(/\s+/g, ' ').trim()).toMatch(
      /^Recorded on( SwiftShader.*)? \d+ \w+ \d{4}$/,
    )
    const isCut = `[...document.querySelectorAll('.replay-badge > span')].some((part) =>
    part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== 'inline')`
    expect(await firefox.ask(isCut)).toBe(false)
    expect(firefox.lines).toEqual([])
  },
)
