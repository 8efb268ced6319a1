// One training step of a preset, taken apart: rollout, log-prob pass, update; and how often it calls the GPU.
import { Gpu } from '../../src/kernels/gpu.ts'
import { presetOf } from '../../src/lab/presets.ts'
import { trainerConfig } from '../../src/lab/trainer_config.ts'
import { Actor } from '../../src/rl/actor.ts'
import { Trainer } from '../../src/rl/trainer.ts'
import { median } from './median.ts'

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

/** An actor whose last calls can be made again, one at a time. */
interface Repeatable {
  readonly logProbs: () => void
  readonly update: () => void
}

/** Makes the next trainer with an actor that remembers how its two passes were called. */
function listenToActor(): () => Repeatable {
  const create = Actor.create
  let heard: Repeatable | undefined
  Actor.create = async (...args) => {
    Actor.create = create
    const actor = await create.apply(Actor, args)
    const { computeLogProbs, updatePolicy } = actor
    let logProbs = () => {}
    actor.computeLogProbs = (...call) => {
      logProbs = () => computeLogProbs.apply(actor, call)
      logProbs()
    }
    actor.updatePolicy = (...call) => {
      const again = () => {
        actor.beginStep()
        updatePolicy.apply(actor, call)
      }
      heard = { logProbs, update: again }
      return updatePolicy.apply(actor, call)
    }
    return actor
  }
  return () => {
    if (!heard) throw new Error('the trainer made no rl step')
    return heard
  }
}

/** Milliseconds until the GPU has finished what `action` queues. */
async function finished(gpu: Gpu, action: () => void): Promise<number> {
  const start = performance.now()
  action()
  await gpu.finish()
  return performance.now() - start
}

/** The last rl phase of a preset, from new weights: the time of a step does not depend on what they hold. */
export async function benchTraining(preset_id: string): Promise<TrainingRow> {
  const preset = presetOf(preset_id)
  if (!preset) throw new RangeError(`no preset ${preset_id}`)
  const { experiment } = preset
  const phases = experiment.phases
    .filter((phase) => phase.kind === 'rl')
    .slice(-1)
    // Without the phase that trains it there is no reward model.
    .map((phase) => ({ ...phase, reward_model: { enable: false } }))
  // Validation and probes come every few steps; the step itself is what is measured.
  const config = trainerConfig({
    ...experiment,
    phases,
    validation: { ...experiment.validation, test_freq: 0 },
    probe: { ...experiment.probe, freq: 0 },
  })
  const gpu = await Gpu.open()
  const actor = listenToActor()
  const trainer = await Trainer.create(gpu, config)
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
  // A step queues both passes at once; taken one at a time, they can be told apart.
  for (let i = 0; i < STEPS; i++) {
    ms.log_prob.push(await finished(gpu, actor().logProbs))
    ms.update.push(await finished(gpu, actor().update))
  }
  const row = {
    preset: preset_id,
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
