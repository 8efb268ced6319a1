// npm run torture [-- N [--seed S]]: kills the browser at N seeded moments of a run, and crashes
// its GPU, and compares what the resumed runs measured with an undisturbed one. Ends with the
// number of runs that came through.
import { parseArgs } from 'node:util'
import { findChromium } from '../scripts/chromium.mjs'
import { installMissing, tool } from '../scripts/project.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
})
const runs = Number(positionals[0] ?? 30)
const seed = Number(values.seed)
if (!(Number.isInteger(runs) && runs >= 1 && Number.isInteger(seed) && seed >= 0)) {
  console.error('Usage: npm run torture [-- N [--seed S]], both whole numbers')
  process.exit(2)
}
await installMissing()
if (!(await findChromium())) {
  console.error('There is no Chromium to torture.')
  process.exit(1)
}
const built = await tool('vite', ['build', '--logLevel', 'error'])
if (built.code !== 0) process.exit(built.code)
const env = { TORTURE_RUNS: String(runs), TORTURE_SEED: String(seed), TORTURE_GPU: 'all' }
const { code } = await tool('playwright', ['test', 'e2e/torture.spec.ts', '--reporter=list'], {
  env,
})
process.exit(code)
