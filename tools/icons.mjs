// node tools/icons.mjs: draws the icons of the installed page from public/favicon.svg, with
// Chromium.
import { readFileSync, writeFileSync } from 'node:fs'
import { chromium } from 'playwright'
import { ROOT } from '../scripts/project.mjs'

const svg = readFileSync(new URL('public/favicon.svg', `file://${ROOT}/`), 'utf8')
/** Without its round corners: systems cut icons to shapes of their own, and keep the middle four
 * fifths. */
const whole = svg
  .replace('rx="7" ', '')
  .replace('<path', '<g transform="translate(4.5 4) scale(.72)"><path')
  .replace('</svg>', '</g></svg>')

const ICONS = [
  ['icon-192.png', 192, svg],
  ['icon-512.png', 512, svg],
  ['icon-maskable-512.png', 512, whole],
  ['apple-touch-icon.png', 180, whole],
]

const browser = await chromium.launch({
  ...(process.env.CHROMIUM && { executablePath: process.env.CHROMIUM }),
  args: ['--no-sandbox'],
})
const page = await browser.newPage()
for (const [name, size, source] of ICONS) {
  await page.setViewportSize({ width: size, height: size })
  await page.setContent(`<style>body{margin:0}svg{display:block;width:${size}px}</style>${source}`)
  writeFileSync(
    new URL(`public/icons/${name}`, `file://${ROOT}/`),
    await page.screenshot({ omitBackground: true }),
  )
}
await browser.close()
