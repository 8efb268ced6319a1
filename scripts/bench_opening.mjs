// Measures the built page as it opens: when its largest part is painted on a slow machine, and how
// much JavaScript's heap holds at rest.
import { APP_SOURCES, isStale, loadVite, ROOT } from './project.mjs'

/** How often the page is opened; the median counts. */
const OPENINGS = 5
/** How many times slower the CPU is made. */
const SLOWDOWN = 4

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

/** Serves dist/app as it is shipped, built where its sources are newer. */
export async function serveApp() {
  const { build, preview } = await loadVite()
  const quiet = { root: ROOT, logLevel: 'error' }
  if (isStale('dist/app/index.html', APP_SOURCES)) await build(quiet)
  return preview({ ...quiet, preview: { host: '127.0.0.1', port: 0 } })
}

/** A page with nothing stored, and its DevTools. */
export async function freshPage(browser) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  return { context, page, devtools: await context.newCDPSession(page) }
}

export const isReady = (page) =>
  page.waitForSelector('[data-testid=status][data-status=idle]', { timeout: 120_000 })

async function paintedAfter(browser, url) {
  const { context, page, devtools } = await freshPage(browser)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.goto(url)
  await isReady(page)
  const ms = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        })
      }),
  )
  await context.close()
  return ms
}

/** Bytes in use after garbage was collected, once everything that the page loads by itself is
 * there. */
async function heapAtRest(browser, url) {
  const { context, page, devtools } = await freshPage(browser)
  await page.goto(url)
  await isReady(page)
  await page.waitForLoadState('networkidle')
  await devtools.send('HeapProfiler.enable')
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  await context.close()
  return usedSize
}

/** Opens the page in this browser. */
export async function measureOpening(browser) {
  const server = await serveApp()
  try {
    const [url] = server.resolvedUrls.local
    const paints = []
    for (let i = 0; i < OPENINGS; i++) paints.push(await paintedAfter(browser, url))
    return {
      slowdown: SLOWDOWN,
      largest_paint_ms: median(paints),
      heap_mb: (await heapAtRest(browser, url)) / 1e6,
    }
  } finally {
    await server.close()
  }
}
