// Times the parts of one training step of a preset: rollout, log-prob pass, update; and counts its
// calls to the GPU.
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { Trainer } from '../../src/rl/train/trainer.ts'
import { median } from './median.ts'
import { finished, listenToActor, rlConfig, scoreAgain, updateAgain } from './rl.ts'

const WARM_UP = 2
const STEPS = 5

export interface TrainingRow {
  readonly preset: string
  readonly steps: number
  /** Median milliseconds of a whole step and of its parts; the rest is scoring and readback. */
  readonly ms: Readonly<Record<string, number>>
  readonly dispatches: number
  readonly submits: number
  readonly reads: number
  readonly live_bytes: number
}

/** The last rl phase of a preset, from new weights: the time of a step does not depend on their
 * values. */
export async function benchTraining(presetId: string): Promise<TrainingRow> {
  const { config, phase } = rlConfig(presetId)
  const gpu = await Gpu.open()
  const heard = listenToActor()
  const trainer = await Trainer.create(gpu, suited(gpu, config))
  for (let i = 0; i < WARM_UP; i++) await trainer.next()
  await gpu.finish()
  const before = { ...gpu.counts }
  const ms: Record<string, number[]> = { rollout: [], log_prob: [], update: [], step: [] }
  for (let i = 0; i < STEPS; i++) {
    const start = performance.now()
    const { metrics } = await trainer.next()
    ms.step.push(performance.now() - start)
    ms.rollout.push(metrics['timing_s/gen'] * 1000)
  }
  await gpu.finish()
  const { dispatches, submits, reads, live_bytes } = gpu.counts
  // A step queues both passes at once; run one at a time, each can be timed.
  for (let i = 0; i < STEPS; i++) {
    ms.log_prob.push(await finished(gpu, () => scoreAgain(heard(), phase.target_layer)))
    ms.update.push(await finished(gpu, () => updateAgain(heard(), phase.target_layer)))
  }
  const row = {
    preset: presetId,
    steps: STEPS,
    ms: Object.fromEntries(Object.entries(ms).map(([name, values]) => [name, median(values)])),
    dispatches: (dispatches - before.dispatches) / STEPS,
    submits: (submits - before.submits) / STEPS,
    reads: (reads - before.reads) / STEPS,
    live_bytes,
  }
  trainer.destroy()
  return row
}
