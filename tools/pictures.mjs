// node tools/pictures.mjs: takes the README's pictures of the page, docs/images/*.webp, while the
// preset tiny trains in Chromium. With the word cards it takes those of docs/interventions.md, from
// a run that is over, and with vectors that of the vectors which tiny-vectors trains.
import { writeFileSync } from 'node:fs'
import { chromium } from 'playwright'
import { serveApp } from '../scripts/bench_opening.mjs'

/** Of 120: the last phase has begun to show, and the tokens of single steps are traced from here
 * on. */
const TRACED_FROM = 104
const LONG = { timeout: 900_000 }

const server = await serveApp()
const [url] = server.resolvedUrls.local
const browser = await chromium.launch({
  ...(process.env.CHROMIUM && { executablePath: process.env.CHROMIUM }),
  args: ['--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
})
const context = await browser.newContext({
  viewport: { width: 1440, height: 900 },
  colorScheme: 'light',
  serviceWorkers: 'block',
})
const page = await context.newPage()
const encoder = await context.newPage()
await page.bringToFront()
const get = (id) => page.getByTestId(id)
const stepIs = (step) =>
  page.waitForFunction(
    (step) => Number(document.querySelector('[data-testid=step-count]')?.textContent) >= step,
    step,
    LONG,
  )
const statusIs = (status) =>
  page.waitForSelector(`[data-testid=status][data-status=${status}]`, LONG)

/** A PNG as WebP, which takes a third of the room. */
async function save(name, png) {
  const encoded = await encoder.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(picture.width, picture.height)
    canvas.getContext('2d').drawImage(picture, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.82 })
    // A large picture has more bytes than a call takes arguments.
    const codes = Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) =>
      String.fromCharCode(byte),
    )
    return btoa(codes.join(''))
  }, png.toString('base64'))
  const bytes = Buffer.from(encoded, 'base64')
  writeFileSync(`docs/images/${name}.webp`, bytes)
  console.log(`docs/images/${name}.webp: ${Math.round(bytes.length / 1000)} kB`)
}

/** The window with this element at its top, below what stays in sight. */
async function take(name, id) {
  if (id)
    await get(id).evaluate((element) => {
      const bar = document.querySelector('.time-axis').getBoundingClientRect()
      const below = Number.parseFloat(getComputedStyle(element).top) || bar.height + 70
      scrollTo({ top: element.getBoundingClientRect().top + scrollY - below })
    })
  else await page.evaluate(() => scrollTo({ top: 0 }))
  // Nothing is pointed at.
  await page.mouse.move(2, 600)
  await page.waitForTimeout(1500)
  await save(name, await page.screenshot())
}

/** The experiments on kept states of a run that is over: a picture of each card. */
async function takeCards() {
  await page.goto(`${url}?v=1&p=tiny`)
  await statusIs('idle')
  await get('train').click()
  await statusIs('finished')
  await get('tab-inside').click()
  for (const id of ['parts', 'learned', 'patching', 'probes', 'steering']) {
    await get(`${id}-start`).click()
    await get(`${id}-says`).waitFor(LONG)
    await page.mouse.move(2, 600)
    await page.waitForTimeout(500)
    await save(`card-${id}`, await get(id).screenshot())
  }
}

/** What the vectors do that a run has trained. */
async function takeVectors() {
  await page.goto(`${url}?v=1&p=tiny-vectors`)
  await statusIs('idle')
  await get('train').click()
  await statusIs('finished')
  await get('tab-inside').click()
  await get('steering-from').selectOption('run')
  await get('steering-start').click()
  await get('steering-says').waitFor(LONG)
  await page.mouse.move(2, 600)
  await page.waitForTimeout(500)
  await save('card-vectors', await get('steering').screenshot())
  console.log(await get('steering-says').textContent())
}

async function takePage() {
  await page.goto(url)
  await statusIs('idle')
  // The recorded run has come to where light falls through its canopy.
  await page.waitForFunction(
    () => document.querySelector('[data-testid=forest]')?.dataset.step > 30,
  )
  await take('at-rest')

  await page.goto(`${url}?v=1&p=tiny`)
  await statusIs('idle')
  await get('settings-toggle').click()
  await get('train').click()
  await stepIs(TRACED_FROM)
  await get('tab-tokens').click()
  // Steps are traced while the tokens are in view.
  await page.evaluate(() => scrollTo({ top: 600 }))
  await stepIs(TRACED_FROM + 3)
  await get('tab-inside').click()
  await stepIs(TRACED_FROM + 6)
  await get('pause').click()
  await statusIs('paused')
  await take('inside', 'flow')
  await get('tab-tokens').click()
  await get('colour-mode').selectOption('advantages')
  await get('informative-only').check()
  await take('tokens', 'inspected-step')
  await get('tab-learn').click()
  await take('learning')
}

try {
  const takes = { cards: takeCards, vectors: takeVectors }
  await (takes[process.argv[2]] ?? takePage)()
} finally {
  await browser.close()
  await server.close()
}
