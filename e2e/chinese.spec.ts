// The page in Chinese: by the link, by the browser's language and by the switch, without English
// but for names and code, and without anything that is too wide for the screen.
import type { Page } from '@playwright/test'
import { expect, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Words of the Latin alphabet that Chinese texts of the field have too: names, units, code. */
const NAMES =
  /^(Understory|GPU|WebGPU|GRPO|PPO|DAPO|DPO|BuPO|RLHF|RLOO|REINFORCE|LoRA|KL|SFT|GAE|AdamW|Muon|TRL|verl|Hugging|Face|Hub|token|tokens|Token|rollout|critic|logits?|nats?|lens|pass|tiny|Tiny|CSV|JSON|Lines|PNG|SVG|Ctrl|SwiftShader|Countdown|CPU|MiB|KiB|GiB|ms|min|std|end|low|high|ln|English|S|N|R|H|L)$/i

/** Texts on screen that have three English words in a row, code aside. */
const englishIn = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = []
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const { parentElement: element, textContent } = node
      if (!element || element.closest('code, pre, kbd, samp, textarea, math, [translate=no]'))
        continue
      if (element.checkVisibility() && textContent) found.push(textContent.trim())
    }
    return [...new Set(found)]
  })

const words = (text: string) => text.match(/[A-Za-z]{2,}/g) ?? []
/** Within a sentence of Chinese: three words of English in a row. */
const IN_A_ROW = /(?:^|[^\w/.-])[a-z]{2,} (?:[a-z]+,? )+[a-z]{2,}/
const isEnglish = (text: string) =>
  // Chinese writes the sign beside its number.
  /\d\s%/.test(text) ||
  // Formulas and names of files are no sentences.
  (!/^= |^\w = |^\w+\.\w+$/.test(text) &&
    (/\p{Script=Han}/u.test(text)
      ? IN_A_ROW.test(text)
      : words(text).filter((word) => !NAMES.test(word)).length >= 2 || /^[a-z]{5,} →$/.test(text)))

/** How much wider than the screen the page is; px. */
const excess = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

test('a link opens the page in Chinese, and the switch leads to English and back', async ({
  lab,
  page,
}) => {
  await page.goto(`?v=1&p=tiny${QUICK}#lang=zh`)
  await lab.waitForStatus('idle')
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await expect(lab.get('train')).toHaveText('训练')
  await lab.get('language').click()
  await expect(lab.get('train')).toHaveText('Train')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  // The choice counts more than the link, and lasts.
  expect(page.url()).not.toContain('lang=')
  await lab.get('language').click()
  await expect(lab.get('train')).toHaveText('训练')
  await page.reload()
  await expect(lab.get('train')).toHaveText('训练')
})

test('no English is left on the first screen but names and code, and nothing is too wide', async ({
  lab,
  page,
}) => {
  await page.goto(`?v=1&p=tiny${QUICK}#lang=zh`)
  await lab.waitForStatus('idle')
  await expect(lab.get('train')).toHaveText('训练')
  // Between regular and bold a font of Chinese has no weight.
  await expect(page.locator('.field-head label').first()).toHaveCSS('font-weight', '600')
  // What stays in one row in English does in Chinese.
  await page.setViewportSize({ width: 1000, height: 844 })
  const header = await page.locator('.header').boundingBox()
  expect(header?.height).toBeLessThanOrEqual(60)
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await excess(page), `${width} px`).toBeLessThanOrEqual(0)
    expect((await englishIn(page)).filter(isEnglish), `${width} px`).toEqual([])
  }
  // The name of a short phase is as short as its place.
  const short = await page.evaluate(() => {
    const words = document.querySelector('.phase-words[data-layer]')
    const { width } = words?.closest('.phase')?.getBoundingClientRect() ?? { width: 0 }
    return words && width < 62 ? getComputedStyle(words, '::before').content : `${width} px`
  })
  expect(short.replaceAll(/["\s]/g, '')).toBe('层2')
})

test('no English is left in a study that is open, nor in its axes', async ({ lab, page }) => {
  await page.goto(`?v=1&p=tiny${QUICK}#lang=zh`)
  await lab.waitForStatus('idle')
  await lab.show('study')
  await page.locator('[data-testid^=study-gallery-] button').first().click()
  await expect(lab.get('study-table')).toBeVisible()
  await expect(page.locator('#tab-panel svg text').first()).toBeVisible()
  await page.evaluate(() => {
    for (const folded of document.querySelectorAll<HTMLDetailsElement>('#tab-panel details'))
      folded.open = true
  })
  expect((await englishIn(page)).filter(isEnglish)).toEqual([])
})

test('no English is left of runs that are grouped and compared, nor in a traced step', async ({
  lab,
  page,
}) => {
  const SHORT = `?v=1&p=first-steps&phases.0.steps=1&phases.1.steps=2&validation.prompts=8&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8${QUICK}`
  for (const own of ['', '&seed=2&actor.optim.lr=0.0005']) {
    await page.goto(`${SHORT}${own}#lang=zh`)
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
  }
  for (const tab of ['learn', 'tokens', 'gpu', 'runs'] as const) {
    await lab.show(tab)
    await expect(page.locator('#tab-panel h2').first()).toBeVisible()
    expect((await englishIn(page)).filter(isEnglish), tab).toEqual([])
  }
  // No column's name stands one character a line.
  const begun = page.locator('.runs-table thead th', { hasText: '开始' })
  const lines = await begun.evaluate((head) => {
    const range = document.createRange()
    range.selectNodeContents(head)
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 16))).size
  })
  expect(lines).toBeLessThanOrEqual(2)
  // Beside the settings what can be done to a run does not lie on its scores.
  const size = page.viewportSize()
  await page.setViewportSize({ width: 1000, height: 720 })
  const score = await lab.get('run').first().locator('.run-cell').last().boundingBox()
  const tools = await lab.get('run').first().locator('.run-tools').boundingBox()
  expect((score?.x ?? 0) + (score?.width ?? 0)).toBeLessThanOrEqual((tools?.x ?? 0) + 1)
  if (size) await page.setViewportSize(size)
  for (const tick of await lab.get('tick').all()) await tick.check()
  await expect(lab.get('compare')).toBeVisible()
  await lab.get('runs-group').selectOption({ index: 2 })
  await expect(lab.get('run-group').first()).toBeVisible()
  expect((await englishIn(page)).filter(isEnglish)).toEqual([])
})
