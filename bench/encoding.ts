// Times what it costs JavaScript to encode a whole step, in Node on Dawn's backend that does
// nothing, so that no GPU, software or not, takes part. Started by scripts/bench_encoding.mjs.
import { create, globals } from 'webgpu'
import { trainerConfig } from '../src/document/experiment/trainer_config.ts'
import { presetOf } from '../src/document/presets/presets.ts'
import type { Tensor } from '../src/kernels/device/base/tensor.ts'
import { Gpu } from '../src/kernels/device/gpu.ts'
import { suited } from '../src/rl/train/suited.ts'
import { Trainer } from '../src/rl/train/trainer.ts'
import { watchCalls } from './page/javascript.ts'
import { rlConfig } from './page/rl.ts'
import type { EncodingRow } from './report/record.ts'

/** Steps for the engine to compile hot code, then measured ones. */
const WARM_UP = 100
const STEPS = 600
const TOKENS = 8

/** A run's step of a preset: its first phase takes one step, so that the workspace has room for its
 * rows, as in a run. */
async function encoding(presetId: string): Promise<EncodingRow> {
  Object.assign(globalThis, globals)
  const gpu = await Gpu.open({
    gpu: create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']),
    joins: true,
  })
  answerReads(gpu)
  const { config, phase } = rlConfig(presetId)
  const preset = presetOf(presetId)
  const [first] = preset ? trainerConfig(preset.experiment).phases : []
  const phases = [
    { ...first, steps: 1 },
    { ...phase, steps: 1e6 },
  ]
  const trainer = await Trainer.create(gpu, suited(gpu, { ...config, phases }))
  for (let i = 0; i < WARM_UP; i++) await trainer.next()
  const { dispatches } = gpu.counts
  await trainer.next()
  const perStep = gpu.counts.dispatches - dispatches
  const watch = watchCalls(gpu)
  const ms: number[] = []
  for (let i = 0; i < STEPS; i++) {
    watch.ms = 0
    await trainer.next()
    ms.push(watch.ms)
  }
  ms.sort((a, b) => a - b)
  const at = (share: number) => ms[Math.floor(share * (STEPS - 1))]
  return {
    preset: presetId,
    steps: STEPS,
    dispatches: perStep,
    least_ms: at(0),
    tenth_ms: at(0.1),
    median_ms: at(0.5),
  }
}

/** Nothing computes, so readbacks bring tokens by chance: lengths of responses vary as in a run. */
function answerReads(gpu: Gpu): void {
  const read = gpu.read.bind(gpu)
  let state = 1
  const random = () => {
    state = (state * 1103515245 + 12345) >>> 0
    return state / 2 ** 32
  }
  const answered = async (...tensors: Tensor[]) => {
    const arrays = await read(...tensors)
    for (const [i, { dtype }] of tensors.entries())
      for (let j = 0; j < arrays[i].length; j++)
        arrays[i][j] = dtype === 'f32' ? 0.1 : Math.floor(random() * TOKENS)
    return arrays
  }
  Object.assign(gpu, { read: answered })
}

process.stdout.write(`${JSON.stringify(await encoding(process.argv[2]))}\n`)
// Dawn's instance would keep the process alive.
process.exit()
