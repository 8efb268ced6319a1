// Runs of a study that share a device: the same bits as one after the other, also where the device
// is lost in the middle.
import { afterAll, expect, test } from 'vitest'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { plannedRuns } from '../../document/study/queue.ts'
import { ResultLog } from '../../document/study/results.ts'
import { armsOf, DOCUMENT, studyOf } from '../../document/study/testing.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { memoryFiles } from '../../host/checkpoints/storage/memory_files.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { plannedBytes } from '../../host/worker/base/memory_budget.ts'
import { systemClock } from '../../host/worker/base/session_host.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { UNMEASURED } from '../../host/worker/kernels/run_kernels.ts'
import { Session } from '../../host/worker/session.ts'
import { Devices } from '../../host/worker/shared/devices.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { onOwnDevice } from '../../kernels/device/testing.ts'
import { largestTensor, steeredEngine } from '../../rl/train/engine.ts'
import { planMemory } from '../../rl/train/parts/memory.ts'

const document = {
  ...DOCUMENT,
  base: {
    ...DOCUMENT.base,
    model: {
      hidden_size: 16,
      num_hidden_layers: 1,
      num_attention_heads: 1,
      num_key_value_heads: 1,
    },
    phases: [{ kind: 'rl', steps: 4, target_layer: 'final' }],
    rollout: { train_batch_size: 4, n: 2 },
    actor: { ppo_mini_batch_size: 4 },
    validation: { test_freq: 2, prompts: 8 },
    // Five devices compile their own: in half the time.
    kernels: '*:vector_4x4',
  },
  seeds: [1],
}
const study = studyOf(document)
const runs = plannedRuns(study, armsOf(document))
/** A run with this seed begins with weights that are no numbers. */
const SPOILT = 13
const opened: Gpu[] = []
afterAll(() => {
  for (const gpu of opened) gpu.destroy()
})

/** A session as the page's worker has it. */
function lab() {
  const events: LabEvent[] = []
  const mine: Gpu[] = []
  const devices = new Devices(async () => {
    const gpu = await onOwnDevice(() => Gpu.open())
    mine.push(gpu)
    opened.push(gpu)
    return gpu
  })
  const files = memoryFiles(() => 0)
  const session = new Session({
    ...systemClock,
    version: '',
    open: () => devices.facts(),
    plan: (experiment) => ({
      bytes: plannedBytes(experiment, (config) => planMemory(config).total()),
      allowed_bytes: 2 ** 30,
    }),
    prepare: async (experiment, _, __, isShared) => {
      const lent = await devices.lend(largestTensor([trainerConfig(experiment)]), isShared)
      const { gpu } = lent
      return {
        ...UNMEASURED,
        adapter: gpu.facts,
        lost: gpu.lost,
        start: async (matmul, onProgress, state) => {
          const engine = steeredEngine(gpu, matmul, onProgress)
          const trainer = await (state
            ? SteeredRun.resume(engine, state)
            : SteeredRun.begin(engine, experiment))
          if (experiment.seed === SPOILT) {
            const { weights } = (await trainer.exportState()).trainer.actor
            trainer.trainer.importWeights(weights.fill(Number.NaN))
          }
          return {
            trainer,
            counts: gpu.counts,
            memory: () => gpu.memory(),
            profile: (work) => gpu.profile(work),
          }
        },
        free: (endedWell, broke) => lent.end(endedWell || broke === true),
      }
    },
    checkpoints: {
      open: async () => ({ files, whyMemory: '' }),
      encode: encodeCheckpoint,
      decode: decodeCheckpoint,
      understory: '',
    },
    peak: async () => undefined,
    benchmark: async () => {
      throw new Error('nobody asks for it')
    },
    post: (event) => events.push(event),
  })
  return { session, events, devices: mine }
}

const start = (i: number, in_turn: boolean) =>
  ({
    type: 'start',
    run: i + 1,
    record: `study-${i}`,
    paused: false,
    in_turn,
    experiment: runs[i].experiment,
    checkpoints: { every_steps: 1, every_ms: 0, budget_bytes: 1e9 },
  }) as const

/** All numbers of each run, and what a study keeps of it. */
function numbersOf(events: readonly LabEvent[]) {
  return runs.map(({ arm, seed, experiment }, i) => {
    const log = new ResultLog(experiment, study)
    const steps = new Map<number, object>()
    for (const event of events) {
      if (!('run' in event) || event.run !== i + 1) continue
      if (event.type === 'restored') log.restore(event.step)
      if (event.type !== 'step') continue
      log.step(event.step, event.phase, event.metrics)
      const own = Object.entries(event.metrics).filter(([name]) => !/^timing_|^perf\//.test(name))
      steps.set(event.step, Object.fromEntries(own))
    }
    const facts = { arm: arm.name, seed, status: 'finished', adapter: '', seconds: 0 } as const
    return { steps: [...steps], result: log.result(facts) }
  })
}

test.skipIf(!process.env.LONG_TESTS)(
  'runs in turn have the bits of runs one after the other, with the same kernels, and leave nothing behind',
  async () => {
    const alone = lab()
    for (const i of runs.keys()) {
      alone.session.handle(start(i, false))
      await alone.session.idle
    }
    const turns = lab()
    for (const i of runs.keys()) turns.session.handle(start(i, true))
    // One that breaks beside them costs them nothing.
    const spoilt = { ...start(0, true), run: 3, record: 'study-3' }
    turns.session.handle({ ...spoilt, experiment: { ...spoilt.experiment, seed: SPOILT } })
    while (!turns.events.some(({ type }) => type === 'guarded')) await systemClock.sleep(2)
    turns.session.handle({ type: 'stop', run: 3 })
    await turns.session.idle
    expect(turns.events.filter(({ type }) => type === 'failed' || type === 'lost')).toEqual([])
    expect(numbersOf(turns.events)).toEqual(numbersOf(alone.events))
    expect(numbersOf(turns.events)[0].steps).toHaveLength(5)
    const steps = turns.events.flatMap((event) => (event.type === 'step' ? [event.run] : []))
    expect(
      steps
        .filter((run) => run < 3)
        .slice(0, 6)
        .sort(),
    ).toEqual([1, 1, 1, 2, 2, 2])
    const [gpu] = turns.devices
    expect(turns.devices).toHaveLength(1)
    expect(gpu.counts.pipelines).toBe(alone.devices[0].counts.pipelines)
    // The device's own uniform buffer.
    expect(gpu.counts.live_bytes).toBe(gpu.memory().scratch)

    // Each continues from its newest state on another device, to the same end.
    const broken = lab()
    for (const i of runs.keys()) broken.session.handle(start(i, true))
    const last = () => broken.events.findLast((event) => event.type === 'step')
    while ((last()?.step ?? 0) < 3) await systemClock.sleep(2)
    broken.devices[0].destroy()
    await broken.session.idle
    expect(broken.events.filter(({ type }) => type === 'restored')).toHaveLength(2)
    expect(numbersOf(broken.events)).toEqual(numbersOf(alone.events))
  },
)
