// npm run soak [-- --steps N --where cli|browser|both]: trains for long, with short steps, and says what grows. Prints JavaScript's
// memory after a forced collection, the GPU's, and creations per step, each as a slope per 1000 steps with its standard error.
// Exits 1 when something was created after warming up or when training stopped while its tab was hidden; memory is for people to judge.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { findChromium, vulkanEnvironment } from './chromium.mjs'
import { openTab, startChromium } from './devtools.mjs'
import { APP_SOURCES, installMissing, isStale, loadVite, ROOT, tool } from './project.mjs'

const WHERE = ['cli', 'browser']
const WARM_START = 20
const INNER = 20
/** Steps that are no part of a slope: both short phases, and the beginning of the last one. */
const WARM = WARM_START + INNER + 60
/** Samples of a run, about. */
const SAMPLES = 40
const HIDDEN_FROM = 0.4
const HIDDEN_TO = 0.7
/** A run whose steps stop coming has failed. */
const STALLED_MS = 120_000

const { values: options } = parseArgs({
  options: {
    steps: { type: 'string', default: '1500' },
    where: { type: 'string', default: 'both' },
  },
})
const steps = Number(options.steps)
if (!(Number.isInteger(steps) && steps >= 2 * WARM))
  fail(`--steps: expected a whole number from ${2 * WARM}`)
const places = options.where === 'both' ? WHERE : [options.where]
if (!places.every((place) => WHERE.includes(place))) fail('--where: expected cli, browser or both')

/** As a share link: both places train the same. */
const LINK =
  `v=1&p=tiny&seed=3&model.hidden_size=16&model.num_hidden_layers=2&model.intermediate_size=32` +
  `&phases.0.steps=${WARM_START}&phases.0.batch_size=8&phases.1.steps=${INNER}&phases.1.target_layer=1` +
  `&phases.2.steps=${steps - WARM_START - INNER}&rollout.train_batch_size=4&actor.ppo_mini_batch_size=4` +
  `&validation.prompts=4&probe.rows=8`

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Waits for the browser's own count of all memory, for at most 20 s. */
const WHOLE = `crossOriginIsolated && performance.measureUserAgentSpecificMemory
  ? Promise.race([
      performance.measureUserAgentSpecificMemory().then(({ bytes }) => bytes),
      new Promise((resolve) => setTimeout(resolve, 20000)),
    ])
  : undefined`

await installMissing()
const { runnerImport } = await loadVite()
const { module: slopes } = await runnerImport(join(ROOT, 'src/cli/soak/slope.ts'), {
  configFile: false,
  logLevel: 'error',
})
const wrong = []
for (const place of places) {
  console.log(`${place}: ${steps} steps, slopes from step ${WARM} on, per 1000 steps`)
  wrong.push(
    ...(await (place === 'cli' ? soakCli() : soakBrowser())).map((text) => `${place}: ${text}`),
  )
}
for (const line of wrong) console.error(line)
process.exit(wrong.length > 0 ? 1 : 0)

function fail(message) {
  console.error(message)
  process.exit(2)
}

/** `lab train` on Dawn, which samples itself (src/cli/soak/sampled_train.ts). */
async function soakCli() {
  const bundle = await buildCli()
  const out = mkdtempSync(join(tmpdir(), 'understory-soak-'))
  const args = ['--expose-gc', bundle, `?${LINK}`, '--out', out, '--checkpoint-every', '50']
  const env = { ...process.env, ...(await vulkanEnvironment()), SOAK_EVERY: `${everySteps()}` }
  const samples = []
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-2000)
  })
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{"soak"'))
      samples.push({ ...JSON.parse(line), at_ms: performance.now() - began })
  rmSync(out, { recursive: true, force: true })
  if (child.exitCode) return [`lab train ended with ${child.exitCode}: ${said.trim()}`]
  return report(
    samples.map(({ soak: step, heapUsed, external, arrayBuffers, rss, counts, at_ms }) => ({
      step,
      at_ms,
      memory: {
        'heap: objects': heapUsed,
        'heap: arrays': arrayBuffers,
        'outside: external less arrays': external - arrayBuffers,
        'process: resident': rss,
        'GPU buffers': counts.live_bytes,
      },
      created: createdOf(counts),
    })),
  )
}

function everySteps() {
  return Math.max(1, Math.floor((steps - WARM) / SAMPLES))
}

function createdOf({ buffers, bind_groups, pipelines }) {
  return { buffers, 'bind groups': bind_groups, pipelines }
}

async function buildCli() {
  const { build } = await loadVite()
  const outDir = join(ROOT, 'dist/soak')
  mkdirSync(outDir, { recursive: true })
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      ssr: 'src/cli/soak/sampled_train.ts',
      outDir,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'soak.mjs', codeSplitting: false } },
    },
  })
  return join(outDir, 'soak.mjs')
}

/** The built page in Chromium, for part of the run behind another tab. */
async function soakBrowser() {
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
    return await trainInBrowser(chromium, server.resolvedUrls.local[0])
  } finally {
    await chromium.close()
    await server.close()
  }
}

/** In the page, before its own scripts: the newest of what the worker says; nothing of it is collected. */
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
  await page.send('Page.navigate', { url: `${url}?${LINK}` })
  const status = `document.querySelector('[data-testid="status"]')?.dataset.status`
  for (let tries = 0; (await page.evaluate(status)) !== 'idle'; tries++) {
    if (tries > 1200) throw new Error('the page found no WebGPU adapter')
    await sleep(100)
  }
  await page.evaluate(`document.querySelector('[data-testid="train"]').click()`)
  return { page, workers }
}

async function trainInBrowser(chromium, url) {
  const errors = []
  const { page, workers } = await openPage(chromium, url, errors)
  const samples = []
  const hidden = { from: undefined, to: undefined, state: '' }
  const began = performance.now()
  let other
  let moved = { step: 0, at: performance.now() }
  for (let next = everySteps(); ; ) {
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
      next = step + everySteps()
      const is_whole = samples.length % 8 === 0
      samples.push({
        step,
        at_ms: performance.now() - began,
        memory: {
          ...(await heapOf(chromium, page, workers, is_whole)),
          'GPU buffers': counts.live_bytes,
        },
        created: createdOf(counts),
      })
    }
    if (status === 'finished') break
  }
  const found = [...report(samples), ...errors]
  const went_on = hidden.state === 'hidden' && hidden.to > hidden.from
  console.log(
    `  behind another tab (document.visibilityState: ${hidden.state}) from step ${hidden.from} to ${hidden.to}\n`,
  )
  if (!went_on) found.push('it was not seen to train on behind another tab')
  return found
}

/** Bytes after a collection: of the page's thread, of its workers together, and, where asked for, of all. */
async function heapOf(chromium, page, workers, is_whole) {
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
  const whole = is_whole ? await page.evaluate(WHOLE) : undefined
  return {
    'page: objects': own.objects,
    'page: arrays': own.arrays,
    'worker: objects': sum('objects'),
    'worker: arrays': sum('arrays'),
    ...(whole !== undefined && { 'all, as the browser counts': whole }),
  }
}

/** Prints the slopes; returns what must not be. */
function report(all) {
  const samples = all.filter(({ step }) => step >= WARM)
  if (samples.length < 3) return [`${samples.length} samples were taken, too few`]
  const [first, last] = [samples[0], samples.at(-1)]
  const seconds = (last.at_ms - first.at_ms) / 1000
  const rate = (last.step - first.step) / seconds
  console.log(
    `  ${samples.length} samples, steps ${first.step} to ${last.step}, ${rate.toFixed(1)} steps/s`,
  )
  console.log(`  ${' '.repeat(65)}all   second half, kB`)
  const kB = (bytes) => (bytes / 1e3).toFixed(1)
  const names = [...new Set(samples.flatMap(({ memory }) => Object.keys(memory)))]
  for (const name of names) {
    const points = samples.flatMap(({ step, memory }) =>
      memory[name] === undefined ? [] : [[step, memory[name]]],
    )
    const rate = ({ slope, error }) =>
      (Number.isNaN(error) ? '–' : `${kB(slope * 1000)} ± ${kB(error * 1000)}`).padStart(18)
    const later = points.slice(Math.floor(points.length / 2))
    console.log(
      `  ${name.padEnd(30)} ${kB(points[0][1]).padStart(9)} → ${kB(points.at(-1)[1]).padStart(9)} kB ${rate(slopes.fitSlope(points))} ${rate(slopes.fitSlope(later))}`,
    )
  }
  const wrong = []
  for (const name of Object.keys(first.created)) {
    const created = last.created[name] - first.created[name]
    console.log(`  ${`created: ${name}`.padEnd(30)} ${created / (last.step - first.step)} a step`)
    if (created > 0) wrong.push(`${created} ${name} were created after step ${first.step}`)
  }
  console.log()
  return wrong
}
