// npm run bench: times matrix products, supervised steps and RL steps in Chromium, prints tables and keeps a JSON file.
// `npm run bench -- matmul sft` runs only what it names, of matmul, sft and training; `--swiftshader` uses the CPU adapter
// even where there is a GPU. Nothing here passes or fails by its speed, only by wrong results.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, cpus, platform } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from './chromium.mjs'
import { installMissing, loadVite, ROOT } from './project.mjs'

const BENCHMARKS = ['matmul', 'sft', 'training']
/** Of `sft`: a preset and a model of 5 million weights. */
const SFT_MODELS = ['two-skills-bupo', '5m']
const PRESET = 'two-skills-bupo'
/** Larger than any rounding in float32; a wrong kernel is off by far more. */
const LARGEST_ERROR = 1e-3
/** Of losses, relative: rounding of one forward, and of three AdamW steps, whose size does not shrink with the gradient. */
const LOSS_TOLERANCE = { first: 1e-5, last: 1e-3 }

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { swiftshader: { type: 'boolean', default: false } },
})
const parts = positionals.length ? positionals : BENCHMARKS
const unknown = parts.filter((part) => !BENCHMARKS.includes(part))
if (unknown.length) {
  console.error(`No benchmark ${unknown.join(', ')}; there are ${BENCHMARKS.join(', ')}.`)
  process.exit(1)
}
await installMissing()
if (!(await findChromium())) process.exit(1)

const server = await servePage()
const { browser, page, adapter } = await openBrowser(server.resolvedUrls.local[0])
try {
  const record = {
    date: new Date().toISOString().slice(0, 10),
    adapter,
    chromium: browser.version(),
    machine: `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0].model.trim()}`,
  }
  console.log(`${record.date}, ${adapter}, Chromium ${record.chromium}, ${record.machine}\n`)
  const wrong = []
  if (parts.some((part) => part !== 'training'))
    record.peers = {
      'jax-js': version('@jax-js/jax'),
      'tfjs-webgpu': version('@tensorflow/tfjs-core'),
    }
  if (parts.includes('matmul')) {
    const shapes = await page.evaluate((preset) => globalThis.bench.matmulShapes(preset), PRESET)
    record.matmul = await page.evaluate((shapes) => globalThis.bench.matmul(shapes), shapes)
    save(record)
    printMatmul(record)
    wrong.push(...wrongProducts(record.matmul))
  }
  if (parts.includes('sft')) {
    record.sft = []
    for (const model of SFT_MODELS) {
      const row = await page.evaluate((model) => globalThis.bench.sft(model), model)
      record.sft.push(row)
      save(record)
      printSft(row, record.peers)
      wrong.push(...wrongLosses(row))
    }
  }
  if (parts.includes('training')) {
    record.training = await page.evaluate((preset) => globalThis.bench.training(preset), PRESET)
    printTraining(record.training)
  }
  console.log(`Wrote ${save(record)}`)
  for (const line of wrong) console.error(line)
  process.exitCode = wrong.length ? 1 : 0
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await browser.close()
  await server.close()
}

/** Builds bench/page and serves it on a free port of this machine. */
async function servePage() {
  const { build, preview } = await loadVite()
  const root = join(ROOT, 'bench/page')
  const outDir = join(ROOT, 'dist/bench')
  const shared = { root, configFile: false, logLevel: 'error', base: './' }
  const limits = { chunkSizeWarningLimit: 10_000 }
  await build({ ...shared, build: { outDir, emptyOutDir: true, target: 'esnext', ...limits } })
  return preview({ ...shared, build: { outDir }, preview: { host: '127.0.0.1', port: 4199 } })
}

/** A Chromium on the real GPU, or on SwiftShader where there is none. */
async function openBrowser(url) {
  const { chromium } = createRequire(join(ROOT, 'package.json'))('playwright')
  const common = ['--no-sandbox', '--enable-unsafe-webgpu', '--ignore-gpu-blocklist']
  const real = platform() === 'linux' ? ['--use-angle=vulkan', '--enable-features=Vulkan'] : []
  const tries = [
    [...common, ...real],
    [...common, '--use-webgpu-adapter=swiftshader'],
  ]
  for (const args of options.swiftshader ? tries.slice(1) : tries) {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args })
    const page = await browser.newPage()
    page.on('pageerror', (error) => console.error(`page: ${error.message}`))
    await page.goto(url)
    await page.waitForFunction(() => 'bench' in globalThis)
    const adapter = await page.evaluate(() => globalThis.bench.adapter())
    if (adapter) return { browser, page, adapter }
    await browser.close()
  }
  throw new Error('This Chromium offers no WebGPU adapter, not even SwiftShader.')
}

function version(name) {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

function table(header, rows) {
  const all = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, i) => Math.max(...all.map((row) => row[i].length)))
  for (const row of all) console.log(row.map((cell, i) => cell.padStart(widths[i])).join('  '))
  console.log()
}

function printMatmul({ matmul, peers }) {
  const names = ['understory', ...Object.keys(peers)]
  const titles = names.map((name) => (peers[name] ? `${name} ${peers[name]}` : name))
  console.log('Matrix products [m, n] over k, float32: median ms (GFLOP/s); ratio = peer ÷ ours')
  console.log('nt: y = x Wᵀ; nn: d_x = d_y W; tn: d_W = d_yᵀ x')
  table(
    ['', 'm', 'n', 'k', ...titles, ...Object.keys(peers).map((name) => `${name} ÷ ours`), 'error'],
    matmul.map(({ of, op, m, n, k, ms, error }) => [
      `${of} ${op}`,
      ...[m, n, k],
      ...names.map(
        (name) => `${ms[name].toFixed(3)} (${((2e-6 * m * n * k) / ms[name]).toFixed(1)})`,
      ),
      ...Object.keys(peers).map((name) => (ms[name] / ms.understory).toFixed(2)),
      Math.max(...Object.values(error)).toExponential(1),
    ]),
  )
}

function wrongProducts(matmul) {
  return matmul
    .filter(({ error }) => Object.values(error).some((value) => !(value < LARGEST_ERROR)))
    .map((row) => `matmul ${row.of} ${row.op}: results differ ${JSON.stringify(row.error)}`)
}

function printSft(row, peers) {
  const { model, num_parameters, rows, width, ms, queued_ms, checked, failed } = row
  console.log(
    `One supervised step of '${model}' (${num_parameters} weights) on ${rows} × ${width} tokens: median ms`,
  )
  if (row.is_software)
    console.log(
      'This adapter is a CPU, so the batch is smaller than on a GPU (an eighth; 16 × 64).',
    )
  table(
    ['', 'ms', '÷ ours', 'ms queued', '÷ ours', 'first ms', 'dispatches', 'loss', 'after 3 steps'],
    Object.entries(checked).map(([name, { losses, dispatches, first_ms }]) => [
      peers[name] ? `${name} ${peers[name]}` : name,
      ms[name].toFixed(1),
      (ms[name] / ms.understory).toFixed(2),
      queued_ms[name]?.toFixed(1) ?? '',
      queued_ms[name] ? (queued_ms[name] / queued_ms.understory).toFixed(2) : '',
      first_ms.toFixed(0),
      dispatches,
      losses[0].toFixed(6),
      losses[losses.length - 1].toFixed(6),
    ]),
  )
  for (const [name, why] of Object.entries(failed)) console.log(`${name} could not: ${why}\n`)
}

/** The peers' losses against ours, before any step and after the last checked one. */
function wrongLosses({ model, checked, failed }) {
  const ours = checked.understory?.losses
  if (!ours) return [`sft ${model}: ${failed.understory}`]
  const off = (losses, i) => Math.abs(losses[i] - ours[i]) / Math.abs(ours[i])
  return Object.entries(checked)
    .filter(
      ([, { losses }]) =>
        !(off(losses, 0) < LOSS_TOLERANCE.first) ||
        !(off(losses, losses.length - 1) < LOSS_TOLERANCE.last),
    )
    .map(([name, { losses }]) => `sft ${model}: ${name} has losses ${losses}, ours ${ours}`)
}

function printTraining({ preset, steps, ms, dispatches, submits, reads, live_bytes }) {
  console.log(`One RL step of '${preset}' (whole model): medians of ${steps} steps`)
  table(
    ['part', 'ms'],
    Object.entries(ms).map(([name, value]) => [name, value.toFixed(1)]),
  )
  const memory = (live_bytes / 2 ** 20).toFixed(1)
  console.log(
    `${dispatches} dispatches, ${submits} submits and ${reads} readbacks a step; ${memory} MiB\n`,
  )
}

/** One file per day and adapter; a later run of that day replaces what it measured again. Returns its path. */
function save(record) {
  const slug = adapter
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const file = join('bench/results', `${record.date}-${slug}.json`)
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  mkdirSync('bench/results', { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...before, ...record }, undefined, 2)}\n`)
  return file
}
