// npm run soak, in Chromium: trains in the built page, for part of the time behind another tab, and
// its memory is sampled.
import { findChromium } from '../scripts/chromium.mjs'
import { openTab, startChromium } from '../scripts/devtools.mjs'
import { APP_SOURCES, isStale, loadVite, ROOT, tool } from '../scripts/project.mjs'
import { createdOf, report } from './soak_report.mjs'

const HIDDEN_FROM = 0.4
const HIDDEN_TO = 0.7
/** A run whose steps stop coming has failed. */
const STALLED_MS = 120_000

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Waits for the browser's own count of all memory, for at most 20 s. */
const WHOLE = `crossOriginIsolated && performance.measureUserAgentSpecificMemory
  ? Promise.race([
      performance.measureUserAgentSpecificMemory().then(({ bytes }) => bytes),
      new Promise((resolve) => setTimeout(resolve, 20000)),
    ])
  : undefined`

/** The built page in Chromium, for part of the run behind another tab. `link` is the run's share
 * link, of `steps` steps; a sample is taken `every` so many, and those before step `warm` do not
 * count. Prints the slopes; returns what must not be. */
export async function soakPage(run) {
  if (!(await findChromium())) return ['there is no Chromium to run in']
  if (isStale('dist/app/index.html', APP_SOURCES))
    await tool('vite', ['build', '--logLevel', 'error'])
  const { preview } = await loadVite()
  const server = await preview({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    build: { outDir: 'dist/app' },
    preview: {
      host: '127.0.0.1',
      port: 0,
      // An isolated page can be asked for all of its memory, workers included.
      headers: {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      },
    },
  })
  const chromium = startChromium(process.env.CHROMIUM, [
    '--no-sandbox',
    '--enable-unsafe-webgpu',
    '--use-webgpu-adapter=swiftshader',
    '--no-first-run',
  ])
  try {
    return await trainInBrowser(chromium, server.resolvedUrls.local[0], run)
  } finally {
    await chromium.close()
    await server.close()
  }
}

/** In the page, before its own scripts: the newest of what the worker says; nothing of it is
 * collected. */
function listen() {
  globalThis.soak = { step: 0, counts: undefined, status: undefined, is_kept: false }
  const Native = globalThis.Worker
  globalThis.Worker = class extends Native {
    constructor(...args) {
      super(...args)
      this.addEventListener('message', ({ data }) => {
        if (data.type === 'step') globalThis.soak.step = data.step
        if (data.type === 'memory') globalThis.soak.counts = data.counts
        if (data.type === 'status') globalThis.soak.status = data.status
        if (data.type === 'checkpoint') globalThis.soak.is_kept = true
        if (data.type === 'failed') globalThis.soak.status = 'failed'
      })
    }
  }
}

/** The page with its run begun, and the sessions of its workers. */
async function openPage(chromium, url, errors) {
  const page = await openTab(chromium)
  const workers = new Set()
  chromium.on((method, params, sessionId) => {
    if (method === 'Target.attachedToTarget' && params.targetInfo.type === 'worker')
      workers.add(params.sessionId)
    if (method === 'Target.detachedFromTarget') workers.delete(params.sessionId)
    if (method === 'Runtime.exceptionThrown' && sessionId === page.sessionId)
      errors.push(`the page failed: ${params.exceptionDetails.exception?.description}`)
  })
  await page.send('Runtime.enable')
  await page.send('Page.enable')
  await page.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: true,
  })
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${listen})()` })
  await page.send('Page.navigate', { url })
  const status = `document.querySelector('[data-testid="status"]')?.dataset.status`
  for (let tries = 0; (await page.evaluate(status)) !== 'idle'; tries++) {
    if (tries > 1200) throw new Error('the page found no WebGPU adapter')
    await sleep(100)
  }
  await page.evaluate(`document.querySelector('[data-testid="train"]').click()`)
  return { page, workers }
}

async function trainInBrowser(chromium, url, { link, steps, every, warm }) {
  const errors = []
  const { page, workers } = await openPage(chromium, `${url}?${link}`, errors)
  const samples = []
  const hidden = { from: undefined, to: undefined, state: '' }
  const began = performance.now()
  let other
  let moved = { step: 0, at: performance.now() }
  for (let next = every; ; ) {
    await sleep(100)
    const { step, counts, status, is_kept } = await page.evaluate('globalThis.soak')
    if (status === 'failed') return ['training failed', ...errors]
    if (step > moved.step) moved = { step, at: performance.now() }
    if (performance.now() - moved.at > STALLED_MS)
      return [`no step came after step ${step}`, ...errors]
    if (!other && step >= HIDDEN_FROM * steps) {
      other = await openTab(chromium)
      await other.toFront()
      await sleep(1000)
      hidden.from = step
      hidden.state = await page.evaluate('document.visibilityState')
    }
    if (other && hidden.to === undefined && step >= HIDDEN_TO * steps) {
      hidden.to = step
      await page.toFront()
      await other.close()
    }
    // The first checkpoint makes what the later ones use.
    if (step >= next && counts && is_kept) {
      next = step + every
      const isWhole = samples.length % 8 === 0
      samples.push({
        step,
        at_ms: performance.now() - began,
        memory: {
          ...(await heapOf(chromium, page, workers, isWhole)),
          'GPU buffers': counts.live_bytes,
        },
        created: createdOf(counts),
      })
    }
    if (status === 'finished') break
  }
  const found = [...(await report(warm, samples)), ...errors]
  const wentOn = hidden.state === 'hidden' && hidden.to > hidden.from
  console.log(
    `  behind another tab (document.visibilityState: ${hidden.state}) from step ${hidden.from} to ${hidden.to}\n`,
  )
  if (!wentOn) found.push('it was not seen to train on behind another tab')
  return found
}

/** Bytes after a collection: of the page's thread, of its workers together, and, where asked for,
 * of all. */
async function heapOf(chromium, page, workers, isWhole) {
  const of = async (session) => {
    await chromium.send('HeapProfiler.collectGarbage', {}, session)
    const { usedSize, backingStorageSize = 0 } = await chromium.send(
      'Runtime.getHeapUsage',
      {},
      session,
    )
    return { objects: usedSize, arrays: backingStorageSize }
  }
  const own = await of(page.sessionId)
  const others = await Promise.all([...workers].map(of))
  const sum = (name) => others.reduce((total, other) => total + other[name], 0)
  const whole = isWhole ? await page.evaluate(WHOLE) : undefined
  return {
    'page: objects': own.objects,
    'page: arrays': own.arrays,
    'worker: objects': sum('objects'),
    'worker: arrays': sum('arrays'),
    ...(whole !== undefined && { 'all, as the browser counts': whole }),
  }
}
