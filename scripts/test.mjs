// npm test: runs everything that must hold, in two lanes, cheapest first. It continues after a
// failure, so that one run says all, and ends with one line, "N passed, N failed". A test that
// fails is tried once more: a busy machine is no failure, and what passed only then is named at the
// end, for it hides a race. `npm test -- unit e2e` runs only the stages named. npm run test:long
// (`--long`) tries ten times as many spoilt inputs, every circumstance and every broken run, and
// kills the browser thirty times.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { findChromium, vulkanEnvironment } from './chromium.mjs'
import { conform, NO_ADAPTER } from './conform_stage.mjs'
import { installMissing, ROOT, run, tool } from './project.mjs'
import { excerpt, missingGpu, StageWatch } from './stage_watch.mjs'

/** Vitest leaves one free, which of two is half. */
const ALL_CORES = ['--maxWorkers=100%']

const STAGES = {
  lint: () => check('biome', ['ci', '--colors=off', '.']),
  types: () => check('tsc', ['--noEmit', '--pretty', 'false']),
  unit: () => vitest('unit', {}, ALL_CORES),
  dawn: async () => {
    const env = await vulkanEnvironment()
    const { code } = await run(process.execPath, ['scripts/lab.mjs', 'adapters'], watched({ env }))
    if (code === NO_ADAPTER)
      return { note: 'skipped: no Vulkan, Metal or D3D adapter for WebGPU in Node' }
    return vitest('dawn', LONG_RUN ? env : { ...env, GPU_TESTS_ONCE: '1' }, ALL_CORES)
  },
  conform: () => conform(watched, LONG_RUN),
  gpu: async () => ((await findChromium()) ? vitest('gpu') : NO_CHROMIUM),
  build: () => check('vite', ['build', '--logLevel', 'error']),
  e2e: async (part) => ((await findChromium()) ? playwright(part) : NO_CHROMIUM),
}
/** Stages that run side by side: a browser keeps little more than one of two cores busy. Cheapest
 * first in each. */
const LANES = [['lint', 'types', 'unit'], ['build']]
/** Enough that a lane waits little for the other at the end; each part starts a browser of its own,
 * which compiles its kernels. */
const PARTS = 6
const e2e = Array.from({ length: PARTS }, (_, i) => `e2e ${i + 1}/${PARTS}`)
/** The lane that is free takes the next one, which may be a part of a stage; torture and pinned are
 * only in `npm run test:long`. */
const LAST = [...e2e.slice(0, 3), 'dawn', 'gpu', 'conform', ...e2e.slice(3), 'pinned', 'torture']
const LONG = '--long'
const LONG_RUN = process.argv.includes(LONG)
const NO_CHROMIUM = { passed: 0, failed: 1, failures: ['there is no Chromium to run in'] }

if (LONG_RUN) {
  process.env.LONG_TESTS = '1'
  process.env.HOSTILE_RUNS ??= '10000'
  STAGES.torture = torture
  STAGES.pinned = pinned
}
/** Ten thousand spoilt inputs are one test. */
const LONG_QUIET_MS = 2 * 60 * 60_000
const names = process.argv.slice(2).filter((name) => name !== LONG)
const unknown = names.filter((name) => !(name in STAGES))
if (unknown.length) {
  console.error(`No stage ${unknown.join(', ')}. Stages: ${Object.keys(STAGES).join(', ')}.`)
  process.exit(2)
}

const temporary = mkdtempSync(join(tmpdir(), 'understory-test-'))
const total = { passed: 0, failed: 0 }
/** Every test that says how long it took. */
const timed = []
/** How many of the slowest are named at the end. */
const SLOWEST = Number(process.env.SLOWEST ?? 20)
/** Tests that passed when they were tried again, with why they failed before. */
const second = []
/** What this machine lacks, for which tests were left out. */
const lacking = new Set()
try {
  await installMissing()
  const selected = Object.keys(STAGES).filter((name) => !names.length || names.includes(name))
  // The dawn stage, too, uses a Chromium: for its software adapter.
  if (selected.some((name) => ['dawn', 'conform', 'pinned', 'gpu', 'e2e'].includes(name)))
    await findChromium()
  const on_gpu = {}
  const isSelected = (name) => selected.includes(name.split(' ')[0])
  const last = LAST.filter(isSelected)
  await Promise.all(
    LANES.map(async (lane) => {
      for (const name of lane.filter(isSelected)) on_gpu[name] = await runStage(name)
      for (let name = last.shift(); name; name = last.shift()) on_gpu[name] = await runStage(name)
    }),
  )
  const missing = missingGpu(selected, on_gpu)
  if (missing) {
    console.log(`✗ ${missing}`)
    total.failed++
  }
} catch (error) {
  console.log(error)
  total.failed++
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
printSlowest()
printSecond()
printLacking()
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 ? 1 : 0

/** Where the time went. Tests of one stage run side by side, so their times add up to more than the
 * stage took. */
function printSlowest() {
  const slowest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  if (slowest.length) console.log(`The ${slowest.length} slowest tests:`)
  for (const { seconds, name } of slowest)
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
}

/** Why tests were left out on this machine, each reason once. */
function printLacking() {
  for (const reason of lacking) console.log(`Skipped: ${reason}`)
}

/** What passed, and not at once. */
function printSecond() {
  if (second.length) console.log(`Passed only at the second try, ${second.length}:`)
  for (const text of second) console.log(indent(excerpt(text, 6, 0)))
}

/** Runs one stage or a part of it, prints its line and what failed, and adds it to the total.
 * Resolves with how many tests ran on an adapter, if it has any. */
async function runStage(name) {
  const start = performance.now()
  const [stage, part] = name.split(' ')
  const result = await STAGES[stage](part)
  const { passed = 0, failed = 0, skipped = 0, note, failures = [] } = result
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`]
  console.log(
    `${name.padEnd(7)} ${(note ?? counts.filter(Boolean).join(', ')).padEnd(30)} ${seconds} s`,
  )
  for (const failure of failures) console.log(indent(failure))
  total.passed += passed
  total.failed += failed
  return result.on_gpu ?? 0
}

/** The first lines of a failure, without the stack frames of the tools themselves. */
function indent(text) {
  const lines = stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\s*at .*node_modules/.test(line))
  return excerpt(lines.join('\n'), 40, 10)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

/** A program that is ended when nothing is heard of it for long. */
function watched(options = {}) {
  const limits = LONG_RUN ? { quiet_ms: LONG_QUIET_MS } : {}
  return { output: 'quiet', watch: new StageWatch(performance.now()), limits, ...options }
}

/** A tool that passes or fails as a whole. */
async function check(name, args) {
  const { code, text, ended } = await tool(name, args, watched())
  if (ended) return { failed: 1, failures: [`${name}: ${ended}`] }
  return code === 0 ? { passed: 1 } : { failed: 1, failures: [text] }
}

/** Thirty kills of the browser, and one of its GPU in every stage of a step. */
async function torture() {
  const { code, text, ended } = await run(process.execPath, ['tools/torture.mjs'], watched())
  return code === 0 ? { passed: 1 } : { failed: 1, failures: [ended ?? text] }
}

/** Models and training on every kernel in turn; a kernel is one test. */
async function pinned() {
  const { code, text, ended } = await run(process.execPath, ['scripts/pinned.mjs'], watched())
  if (code === NO_ADAPTER) return { note: 'skipped: no adapter for WebGPU in Node' }
  const count = (mark) => text.split('\n').filter((line) => line.startsWith(mark)).length
  const failures = code === 0 ? [] : [ended ?? text]
  return closed({ passed: count('✓'), failed: count('✗'), failures }, code, text)
}

/** A run that ends badly without a failed test (a crash, an unhandled error) is one failure
 * more. */
function closed(result, code, text) {
  if (code === 0 || result.failed > 0) return result
  return { ...result, failed: 1, failures: [excerpt(text, 0, 20)] }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** One vitest project. A file that does not load counts as one failed test. */
async function vitest(project, env = {}, options = []) {
  const file = join(temporary, `${project}.json`)
  const reporters = [
    ...['default', 'json', './scripts/test_reporter.mjs'].map((name) => `--reporter=${name}`),
    `--outputFile.json=${file}`,
  ]
  const args = ['run', '--project', project, '--no-color', '--retry=1', ...reporters, ...options]
  const watching = watched({ env })
  const { code, text, ended } = await tool('vitest', args, watching)
  second.push(...watching.watch.second)
  if (ended) return endedStage(watching.watch, ended)
  const report = readJson(file)
  if (!report) return closed({ failed: 0 }, code || 1, text)
  const failures = []
  let failed = report.numFailedTests
  for (const { name, status, message, assertionResults } of report.testResults) {
    const where = name.replace(`${ROOT}/`, '')
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      failed++
      failures.push(`✗ ${where}: ${message}`)
    }
    for (const test of assertionResults) {
      timed.push({ seconds: (test.duration ?? 0) / 1000, name: `${where}: ${test.fullName}` })
      if (test.status === 'failed')
        failures.push(`✗ ${where}: ${test.fullName}\n${test.failureMessages.join('\n')}`)
    }
  }
  const skipped = report.numPendingTests + report.numTodoTests
  const on_gpu = report.numPassedTests + report.numFailedTests
  return closed({ passed: report.numPassedTests, failed, skipped, failures, on_gpu }, code, text)
}

/** What a stage that was ended came to. */
function endedStage(watch, why) {
  return { ...watch.ended(why, performance.now()), on_gpu: watch.passed + watch.failed }
}

/** One part of the browser tests on the built page, as "2/5". */
async function playwright(part) {
  const number = part.split('/')[0]
  const file = join(temporary, `e2e_${number}.json`)
  const env = { PLAYWRIGHT_JSON_OUTPUT_FILE: file, FORCE_COLOR: '0' }
  const watching = watched({ env })
  const reporter = '--reporter=json,./scripts/test_reporter.mjs'
  const output = `--output=test-results/e2e_${number}`
  const args = ['test', '--retries=1', reporter, `--shard=${part}`, output]
  const { code, text, ended } = await tool('playwright', args, watching)
  second.push(...watching.watch.second)
  if (ended) return endedStage(watching.watch, ended)
  const report = readJson(file)
  if (!report) return closed({ failed: 0 }, code || 1, text)
  const failures = report.errors.map(({ message }) => `✗ ${message}`)
  const specs = report.suites.flatMap(function all(suite) {
    return [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(all)]
  })
  for (const spec of specs)
    for (const test of spec.tests) {
      const seconds = test.results.reduce((sum, { duration }) => sum + duration / 1000, 0)
      timed.push({ seconds, name: `e2e/${spec.file}: ${spec.title}` })
      // What this machine lacks; a test that is left out for another reason says none.
      for (const { type, description } of test.annotations)
        if (type === 'skip' && description) lacking.add(description)
      if (test.status === 'unexpected') {
        const messages = test.results.flatMap(({ errors }) => errors.map(({ message }) => message))
        failures.push(`✗ e2e/${spec.file}: ${spec.title}\n${messages.join('\n')}`)
      }
    }
  const { expected, unexpected, flaky, skipped } = report.stats
  const failed = unexpected + report.errors.length
  return closed({ passed: expected + flaky, failed, skipped, failures }, code, text)
}
