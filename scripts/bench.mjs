// npm run bench: times training steps and matrix products in Chromium, prints tables and keeps a JSON file.
// `npm run bench -- matmul` or `-- training` runs one half; `--swiftshader` uses the CPU adapter even where
// there is a GPU. Nothing here passes or fails by its speed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, cpus, platform } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from './chromium.mjs'
import { installMissing, loadVite, ROOT } from './project.mjs'

const SIZES = [256, 512, 1024]
const PRESET = 'two-skills-bupo'
/** Larger than any rounding in float32; a wrong kernel is off by far more. */
const LARGEST_ERROR = 1e-3

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { swiftshader: { type: 'boolean', default: false } },
})
const parts = positionals.length ? positionals : ['matmul', 'training']
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
  if (parts.includes('matmul')) {
    record.peers = {
      'jax-js': version('@jax-js/jax'),
      'tfjs-webgpu': version('@tensorflow/tfjs-core'),
    }
    record.matmul = await page.evaluate((sizes) => globalThis.bench.matmul(sizes), SIZES)
    printMatmul(record)
  }
  if (parts.includes('training')) {
    record.training = await page.evaluate((preset) => globalThis.bench.training(preset), PRESET)
    printTraining(record.training)
  }
  save(record)
  const wrong = (record.matmul ?? []).filter(({ error }) =>
    Object.values(error).some((value) => !(value < LARGEST_ERROR)),
  )
  for (const { n, error } of wrong) console.error(`matmul ${n}: results differ`, error)
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
  console.log('Matrix product [n, n] × [n, n], float32: median ms (GFLOP/s); ratio = peer ÷ ours')
  table(
    ['n', ...titles, ...Object.keys(peers).map((name) => `${name} ÷ ours`), 'largest error'],
    matmul.map(({ n, ms, error }) => [
      n,
      ...names.map((name) => `${ms[name].toFixed(3)} (${((2e-6 * n ** 3) / ms[name]).toFixed(1)})`),
      ...Object.keys(peers).map((name) => (ms[name] / ms.understory).toFixed(2)),
      Math.max(...Object.values(error)).toExponential(1),
    ]),
  )
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

/** One file per day and adapter; a later run of that day replaces what it measured again. */
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
  console.log(`Wrote ${file}`)
}
