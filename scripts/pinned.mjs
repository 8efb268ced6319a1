// npm run test:pinned [-- NAME ...]: runs the GPU tests of models and of training in Node once for
// each name, with that kernel pinned (src/cli/pinned.setup.ts); by default every variant of matrix
// products that suits the adapter, and the tiled kernels. PINNED_TESTS names other test files.
import { vulkanEnvironment } from './chromium.mjs'
import { installMissing, run, tool } from './project.mjs'

/** Models, and training against float64: what a product computes shows here. Kernels themselves are
 * tested on every variant anyway. */
const TESTS = [
  'src/cli/pinned.gpu.test.ts',
  'src/model',
  ...['actor', 'critic', 'fusion', 'lora'].map((name) => `src/rl/learners/${name}.gpu.test.ts`),
  'src/rl/reward/reward_model.gpu.test.ts',
  'src/rl/train/float64',
]
/** A file whose cases take no time. */
const SMALLEST = 'conformance/fixtures/verl/masked_mean.json'

await installMissing()
const env = await vulkanEnvironment()
const given = process.argv.slice(2)
const names = given.length > 0 ? given : await suited()
const tests = process.env.PINNED_TESTS?.split(' ') ?? TESTS
let failed = false
for (const name of names) {
  const start = performance.now()
  const options = { output: 'quiet', env: { ...env, LONG_TESTS: '1', PINNED_KERNELS: name } }
  const args = ['run', '--project', 'dawn', '--no-color', '--maxWorkers=100%', ...tests]
  const { code, text } = await tool('vitest', args, options)
  failed ||= code !== 0
  if (code !== 0) console.log(text)
  const counts = /^ *Tests +(.*)$/m.exec(text)?.[1] ?? 'no tests'
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(22)} ${counts}, ${seconds} s`)
}
process.exitCode = failed ? 1 : 0

/** The choices that `lab conform` makes on this adapter. Ends with its exit code where it makes
 * none, as without an adapter. */
async function suited() {
  const args = ['scripts/lab.mjs', 'conform', SMALLEST, '--kernels', 'each']
  const { code, text } = await run(process.execPath, args, { output: 'quiet', env })
  const found = [...text.matchAll(/^kernels = (\w+)/gm)].map(([, name]) => name)
  if (found.length > 0) return found
  console.log(text)
  process.exit(code || 1)
}
