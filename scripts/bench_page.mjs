// Opens the page that `npm run bench` measures on: how it is built and served, the Chromium around
// it, and what the page may ask of that.
import { join } from 'node:path'
import { openFirst } from './browsers.mjs'
import { loadVite, ROOT } from './project.mjs'

/** Builds bench/page and serves it on a free port of this machine. */
export async function servePage() {
  const { build, preview } = await loadVite()
  // Loading bench/report has set it to development, which would measure React's checks along.
  process.env.NODE_ENV = 'production'
  const root = join(ROOT, 'bench/page')
  const outDir = join(ROOT, 'dist/bench')
  const { default: react } = await import('@vitejs/plugin-react')
  const shared = { root, configFile: false, logLevel: 'error', base: './', plugins: [react()] }
  const limits = { chunkSizeWarningLimit: 10_000 }
  const rolldownOptions = { input: [join(root, 'index.html'), join(root, 'ui.html')] }
  await build({
    ...shared,
    build: { outDir, emptyOutDir: true, target: 'esnext', rolldownOptions, ...limits },
  })
  // An isolated page has a clock of 5 µs instead of 100.
  const headers = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  }
  return preview({
    ...shared,
    build: { outDir },
    preview: { host: '127.0.0.1', port: 4199, headers },
  })
}

/** A Chromium as `which` names it (browsers.mjs), with the bench in a page of it. */
export async function openBrowser(url, which) {
  return openFirst(which, url, async (page) => {
    await page.waitForFunction(() => 'bench' in globalThis)
    return page.evaluate(() => globalThis.bench.adapter())
  })
}

/** The page's own components, in a tab without anything else. */
export async function openUiPage(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.on('pageerror', (error) => console.error(`page: ${error.message}`))
  await page.goto(`${url}ui.html`)
  await page.waitForFunction(() => 'uiBench' in globalThis)
  await offerThreadTime(page)
  const cases = await page.evaluate(() => globalThis.uiBench.cases())
  return { page, cases }
}

/** Lets the page ask for the CPU seconds of its own thread (bench/page/javascript.ts). */
export async function offerThreadTime(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.exposeFunction('benchThreadSeconds', async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value
  })
}

/** Lets the page have its thread sampled by V8's profiler: milliseconds inside JavaScript, and in
 * its garbage collector. */
export async function offerSampling(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Profiler.enable')
  await session.send('Profiler.setSamplingInterval', { interval: 100 })
  await page.exposeFunction('benchStartSampling', () => session.send('Profiler.start'))
  await page.exposeFunction('benchStopSampling', async () => {
    const { profile } = await session.send('Profiler.stop')
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame.functionName]))
    const ms = { script: 0, garbage: 0 }
    profile.samples.forEach((id, i) => {
      const name = names.get(id)
      const kind = name === '(garbage collector)' ? 'garbage' : 'script'
      if (!['(idle)', '(program)', '(root)'].includes(name))
        ms[kind] += profile.timeDeltas[i] / 1000
    })
    return ms
  })
}

/** Updates before the measured ones, and measured ones. */
const UI_UPDATES = { warm: 10, measured: 40 }

/** CPU time of the page's thread per update of a case, or its share of the time. */
export async function measureUi(page, uiCase) {
  const { pictureHeight: height } = uiCase
  if (height) await page.setViewportSize({ width: 1440, height })
  await page.evaluate((uiCase) => globalThis.uiBench.open(uiCase), uiCase)
  const updates = (count) => page.evaluate((count) => globalThis.uiBench.update(count), count)
  await updates(UI_UPDATES.warm)
  const seconds = () => page.evaluate(() => globalThis.benchThreadSeconds())
  const [cpu, clock] = [await seconds(), performance.now()]
  await updates(UI_UPDATES.measured)
  const busyMs = 1000 * ((await seconds()) - cpu)
  const ms = busyMs / UI_UPDATES.measured
  return uiCase.per_second
    ? { ...uiCase, ms, share: busyMs / (performance.now() - clock) }
    : { ...uiCase, ms }
}
