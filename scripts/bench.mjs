// npm run bench: times matrix products, training steps, their parts, how they grow, and the page's
// own work in Chromium, prints tables and keeps a JSON file in bench/results. `npm run bench --
// matmul sft` runs only the suites it names; `--browser hardware` tries the ways to a GPU in a
// browser one after the other and says which worked, `--browser swiftshader` takes the CPU adapter
// even where there is a GPU, `--node` measures in Node on Dawn, without a browser, with Dawn's
// toggles that `--dawn-features` names. Nothing here passes or fails by
// its speed, only by wrong results. Without a browser: `npm run bench -- show FILE` prints a
// results file, `npm run bench -- plot FILE` draws its scaling as docs/figures/scaling.svg. `npm
// run bench -- torch [--weights DIR]` writes dist/torch for bench/torch/rl_step.py.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureEncoding } from './bench_encoding.mjs'
import { openNode, withVulkan } from './bench_node.mjs'
import { measureOpening } from './bench_opening.mjs'
import {
  measureUi,
  offerSampling,
  offerThreadTime,
  openBrowser,
  openUiPage,
  servePage,
} from './bench_page.mjs'
import { measureRunning } from './bench_running.mjs'
import { BROWSERS } from './browsers.mjs'
import { findChromium } from './chromium.mjs'
import { installMissing, loadVite, ROOT } from './project.mjs'

const PRESET = 'two-skills-bupo'
/** The models of the suite `sft`: a preset and one of 5 million weights. */
const SFT_MODELS = [PRESET, '5m']
const FIGURE = 'docs/figures/scaling.svg'

/** What each suite does with the page; it puts its results into `record` and returns what is wrong
 * with them. */
const SUITES = {
  matmul: async ({ page, record, report }) => {
    const shapes = await page.evaluate((preset) => globalThis.bench.matmulShapes(preset), PRESET)
    record.matmul = await page.evaluate((shapes) => globalThis.bench.matmul(shapes), shapes)
    report.printMatmul(record.matmul, record.peers)
    return report.wrongProducts(record.matmul)
  },
  variants: async ({ page, record, report }) => {
    record.variants = await page.evaluate((preset) => globalThis.bench.variants(preset), PRESET)
    report.printVariants(record.variants)
    return []
  },
  products: async ({ page, record, report, keep }) => {
    record.products = []
    for (const shape of await page.evaluate(() => globalThis.bench.productShapes())) {
      const row = await page.evaluate((shape) => globalThis.bench.product(shape), shape)
      record.products.push(row)
      report.printProduct(row)
      keep()
    }
    return report.wrongVariants(record.products)
  },
  sft: async ({ page, record, report, keep }) => {
    record.sft = []
    for (const model of SFT_MODELS) {
      record.sft.push(await page.evaluate((model) => globalThis.bench.sft(model), model))
      report.printSft(record.sft.at(-1), record.peers)
      keep()
    }
    return record.sft.flatMap(report.wrongLosses)
  },
  training: async ({ page, record, report }) => {
    record.training = await page.evaluate((preset) => globalThis.bench.training(preset), PRESET)
    report.printTraining(record.training)
    return []
  },
  parts: async ({ page, record, report }) => {
    record.parts = await page.evaluate((preset) => globalThis.bench.parts(preset), PRESET)
    report.printParts(record.parts)
    return []
  },
  encoding: async ({ record, report }) => {
    record.encoding = await measureEncoding(PRESET)
    report.printEncoding(record.encoding)
    return []
  },
  limits: async ({ page, record, report }) => {
    record.limits = await page.evaluate(() => globalThis.bench.limits())
    report.printLimits(record.limits)
    return report.wrongLimits(record.limits)
  },
  features: async ({ page, record, report }) => {
    record.features = await page.evaluate((preset) => globalThis.bench.features(preset), PRESET)
    report.printFeatures(record.features)
    return []
  },
  models: async ({ page, record, report, keep }) => {
    record.models = []
    for (const model of await page.evaluate(() => globalThis.bench.modelNames())) {
      record.models.push(await page.evaluate((model) => globalThis.bench.models(model), model))
      report.printModel(record.models.at(-1))
      keep()
    }
    return record.models.flatMap(report.wrongMemory)
  },
  scaling: async ({ page, record, report, keep }) => {
    record.scaling = []
    for (const axis of await page.evaluate(() => globalThis.bench.scalingAxes())) {
      record.scaling.push(await page.evaluate((axis) => globalThis.bench.scaling(axis), axis))
      report.printScaling(record.scaling.at(-1))
      keep()
    }
    return record.scaling.flatMap(report.wrongScaling)
  },
  ui: async ({ page, record, report, openUi }) => {
    record.opening = await measureOpening(page.context().browser())
    report.printOpening(record.opening)
    record.ui = []
    for (let count = 1; record.ui.length < count; ) {
      const { page, cases } = await openUi()
      const uiCase = cases[record.ui.length]
      record.ui.push(await measureUi(page, uiCase))
      report.printUi(record.ui.slice(-1))
      count = cases.length
      await page.close()
    }
    return []
  },
  run: async ({ page, record, report }) => {
    record.run = await measureRunning(page.context().browser())
    report.printRun(record.run)
    return []
  },
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    browser: { type: 'string', default: 'any' },
    'dawn-features': { type: 'string' },
    node: { type: 'boolean', default: false },
    weights: { type: 'string' },
  },
})
const [first, file, ...more] = positionals
const isFileCommand = first === 'show' || first === 'plot'
/** The page's own work needs a page. */
const IN_NODE = Object.keys(SUITES).filter((name) => !['ui', 'run'].includes(name))
const offered = options.node ? IN_NODE : Object.keys(SUITES)
const suites = positionals.length ? positionals : offered
const unknown =
  first === 'torch' ? positionals.slice(1) : suites.filter((name) => !offered.includes(name))
if (isFileCommand ? !file || more.length : unknown.length) {
  console.error(
    isFileCommand
      ? `bench ${first}: expected one results file, e.g. bench/results/2026-11-21-google-swiftshader.json`
      : `No benchmark ${unknown.join(', ')}; there are ${offered.join(', ')}, and show, plot and torch.`,
  )
  process.exit(1)
}
const wrongOption = !Object.hasOwn(BROWSERS, options.browser)
  ? `--browser: expected ${Object.keys(BROWSERS).join(', ')}, got ${options.browser}`
  : options['dawn-features'] !== undefined && !options.node
    ? '--dawn-features is for --node: a browser takes them as --enable-dawn-features'
    : undefined
if (wrongOption) {
  console.error(wrongOption)
  process.exit(1)
}
if (options['dawn-features'] !== undefined) process.env.DAWN_FEATURES = options['dawn-features']
await installMissing()
const report = await loadReport()
if (isFileCommand) showFile(first, file)
else if (options.node) await runInNode()
else if (await findChromium()) await runInBrowser()
else process.exit(1)

/** bench/report, which is TypeScript. */
async function loadReport() {
  const { runnerImport } = await loadVite()
  const files = ['record', 'tables', 'checks', 'plot'].map((name) => `bench/report/${name}.ts`)
  const quiet = { configFile: false, logLevel: 'error' }
  const loaded = await Promise.all(files.map((file) => runnerImport(join(ROOT, file), quiet)))
  return Object.assign({}, ...loaded.map(({ module }) => module))
}

function showFile(command, file) {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8'))
    if (command === 'show') return report.printRecord(record)
    const figure = report.scalingFigure(record)
    mkdirSync('docs/figures', { recursive: true })
    writeFileSync(FIGURE, figure)
    console.log(`Wrote ${FIGURE}`)
  } catch (error) {
    console.error(`${file}: ${error.message}`)
    process.exitCode = 1
  }
}

async function runInBrowser() {
  const server = await servePage()
  let browser
  try {
    const opened = await openBrowser(server.resolvedUrls.local[0], options.browser)
    browser = opened.browser
    const { page, adapter } = opened
    await offerThreadTime(page)
    await offerSampling(page)
    if (first === 'torch') await recordForTorch(page)
    else {
      const openUi = () => openUiPage(browser, server.resolvedUrls.local[0])
      await runSuites(page, adapter, browser.version(), openUi)
    }
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  } finally {
    await browser?.close()
    await server.close()
  }
}

async function runInNode() {
  try {
    await withVulkan()
    const { page, adapter } = await openNode()
    if (first === 'torch') await recordForTorch(page)
    else await runSuites(page, adapter, `none: Node ${process.version}`)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
  // Devices of the other libraries would keep the process alive.
  process.exit()
}

async function runSuites(page, { name: adapter, info }, chromium, openUi) {
  const record = {
    date: new Date().toISOString().slice(0, 10),
    adapter,
    info,
    ...(options['dawn-features'] && { dawn_features: options['dawn-features'] }),
    chromium,
    machine: `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0].model.trim()}`,
  }
  console.log(`${record.date}, ${adapter}, Chromium ${chromium}, ${record.machine}\n`)
  if (suites.includes('matmul') || suites.includes('sft'))
    record.peers = {
      'jax-js': version('@jax-js/jax'),
      'tfjs-webgpu': version('@tensorflow/tfjs-core'),
    }
  const wrong = []
  const began = performance.now()
  for (const [i, name] of suites.entries()) {
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    console.log(`[${i + 1}/${suites.length}] ${name}, after ${seconds} s\n`)
    wrong.push(...(await SUITES[name]({ page, record, report, openUi, keep: () => save(record) })))
    save(record)
  }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  console.log(`Wrote ${save(record)} after ${minutes} minutes`)
  for (const line of wrong) console.error(line)
  process.exitCode = wrong.length ? 1 : 0
}

/** Writes the first steps of the preset and the weights before them to dist/torch. */
async function recordForTorch(page) {
  const given = options.weights && readWeights(options.weights)
  const { weights, header, ...run } = await page.evaluate(
    ([preset, given]) => globalThis.bench.recordSteps(preset, given),
    [PRESET, given],
  )
  mkdirSync('dist/torch', { recursive: true })
  const bytes = new DataView(new ArrayBuffer(weights.length * 4))
  for (const [i, value] of weights.entries()) bytes.setFloat32(i * 4, value, true)
  writeFileSync('dist/torch/weights.f32', new Uint8Array(bytes.buffer))
  writeFileSync('dist/torch/weights.json', `${JSON.stringify(header, undefined, 2)}\n`)
  writeFileSync('dist/torch/steps.json', `${JSON.stringify(run)}\n`)
  for (const { metrics } of run.steps) console.log(JSON.stringify(metrics))
  console.log('Wrote dist/torch; now: python3 bench/torch/rl_step.py dist/torch')
}

/** The weights of `npm run -s lab -- train … --save DIR`. */
function readWeights(folder) {
  const bytes = readFileSync(join(folder, 'weights.f32'))
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4))
}

function version(name) {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** One file per day, adapter and toggles of Dawn; a later run of that day replaces what it measured
 * again. Returns its path. */
function save(record) {
  const slug = [record.adapter, record.dawn_features ?? '']
    .join(' ')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const file = join('bench/results', `${record.date}-${slug}.json`)
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const all = { ...before, ...record }
  mkdirSync('bench/results', { recursive: true })
  const whole = { ...all, comparisons: report.comparisonsOf(all) }
  writeFileSync(file, `${JSON.stringify(whole, undefined, 2)}\n`)
  return file
}
