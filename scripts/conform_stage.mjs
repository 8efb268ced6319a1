// Runs the stage of tests that compares the lab with golden numbers of other systems, on a GPU
// where one is.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { vulkanEnvironment } from './chromium.mjs'
import { ROOT, run } from './project.mjs'
import { excerpt } from './stage_watch.mjs'

/** What `lab adapters` exits with where WebGPU finds nothing. */
export const NO_ADAPTER = 3
const KINDS = [
  'hf',
  'verl',
  'verl_v0.9',
  'multi_turn',
  'peft_train',
  'estimators_2',
  'distill',
  'oisd',
  'bupo_fork',
  'interventions',
  'preference',
]
/** Those whose float64 replay of everything takes a minute. */
const SLOW = ['hf', 'peft_train', 'bupo_fork', 'distill', 'preference']
/** Golden numbers. The committed ones are some of those that may lie beside the project, and run
 * where these are missing. */
const goldens = (isLong) =>
  // The unit tests run the reference on these (interventions/intervention_case.test.ts), and the
  // kernels have tests of their own.
  KINDS.filter((kind) => isLong || kind !== 'interventions').map((kind) => {
    const all = `../shared/goldens/${kind}`
    const isCommitted = (SLOW.includes(kind) && !isLong) || !existsSync(join(ROOT, all))
    return isCommitted ? `conformance/fixtures/${kind}` : all
  })

/** The lab's own check against verl and Hugging Face; its failures are printed once more at its
 * end. `watched` ends what hangs. */
export async function conform(watched, isLong) {
  const [hf, ...others] = goldens(isLong)
  // Once more, with kernels pinned one after the other, where there is time.
  const pinned = isLong ? [['conformance/fixtures/hf', '--kernels', 'each']] : []
  // A process keeps one core busy most of the time.
  const results = await Promise.all([
    conformAll([[hf]], watched),
    conformAll([...others.map((folder) => [folder]), ...pinned], watched),
  ])
  const sum = (name) => results.reduce((total, result) => total + result[name], 0)
  const failures = results.flatMap((result) => result.failures)
  return { passed: sum('passed'), failed: sum('failed'), on_gpu: sum('on_gpu'), failures }
}

/** One run of `lab conform` after the other, each with its arguments. */
async function conformAll(runs, watched) {
  const total = { passed: 0, failed: 0, failures: [], on_gpu: 0 }
  for (const args of runs) {
    const { code, text, ended } = await runConform(args, watched)
    if (code === NO_ADAPTER) continue
    const counts = /^(\d+) passed, (\d+) failed/m.exec(text)
    if (ended || !counts) {
      total.failed++
      total.failures.push(ended ? `${args}: ${ended}\n${excerpt(text, 0, 3)}` : text)
      continue
    }
    // A driver that is missing may be said before.
    if (/^gpu = /m.test(text)) total.on_gpu += Number(counts[1]) + Number(counts[2])
    total.passed += Number(counts[1])
    total.failed += Number(counts[2])
    if (code !== 0) total.failures.push(text.slice(text.indexOf('\nFailures:') + 1))
  }
  return total
}

/** Without an adapter, what needs none. */
async function runConform([path, ...options], watched) {
  const env = await vulkanEnvironment()
  const lab = (...args) =>
    run(process.execPath, ['scripts/lab.mjs', 'conform', path, ...args], watched({ env }))
  const result = await lab(...options)
  return result.code === NO_ADAPTER && options.length === 0 ? lab('--reference-only') : result
}
