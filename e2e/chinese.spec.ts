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
const isEnglish = (text: string) =>
  words(text).filter((word) => !NAMES.test(word)).length >= 2 && !/\p{Script=Han}/u.test(text)

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
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await excess(page), `${width} px`).toBeLessThanOrEqual(0)
    expect((await englishIn(page)).filter(isEnglish), `${width} px`).toEqual([])
  }
})
