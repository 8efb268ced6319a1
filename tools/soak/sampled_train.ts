// Runs lab train, looked at from inside while it trains: what tools/soak.mjs runs. Needs node
// --expose-gc and SOAK_EVERY.

import { RunFolder } from '../../src/cli/output/run_folder.ts'
import { train } from '../../src/cli/train/train.ts'
import { Gpu } from '../../src/kernels/device/gpu.ts'

/** Steps between two samples. */
const every = Number(process.env.SOAK_EVERY)
const { gc } = globalThis
if (!gc || !(every > 0)) throw new RangeError('expected node --expose-gc and SOAK_EVERY')

const opened: Gpu[] = []
const { open } = Gpu
Gpu.open = async (options) => {
  const gpu = await open.call(Gpu, options)
  opened.push(gpu)
  return gpu
}

/** One line of JSON on stdout. */
function sample(step: number): void {
  gc?.()
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  const counts = opened.at(-1)?.counts
  console.log(JSON.stringify({ soak: step, heapUsed, external, arrayBuffers, rss, counts }))
}

const { metrics } = RunFolder.prototype
RunFolder.prototype.metrics = function (step, data) {
  metrics.call(this, step, data)
  if (step % every === 0) sample(step)
}

train.run(process.argv.slice(2)).then((code) => process.exit(code))
