// The guard around a real trainer: weights that are no numbers, or too large for any, three steps
// in a row. Here, because lab may not load the GPU side.
import { expect, test } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { memoryFiles } from '../../host/checkpoints/storage/memory_files.ts'
import { tinyExperiment } from '../../host/checkpoints/testing.ts'
import { BrokenNumbers } from '../../host/protocol/guard.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { systemClock } from '../../host/worker/base/session_host.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { UNMEASURED } from '../../host/worker/kernels/run_kernels.ts'
import { type RunDevice, Session } from '../../host/worker/session.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { steeredEngine } from '../../rl/train/engine.ts'
import type { Trainer } from '../../rl/train/trainer.ts'
import { RunWatch } from './run_watch.ts'
import { TrainingRun } from './training_run.ts'

const STEPS = 8
/** The weights are spoilt right before this step. */
const BROKEN_AT = 5
const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'rl', steps: STEPS }] })
type Real = SteeredRun<Trainer>

const weightsOf = async (run: Real) => (await run.exportState()).trainer.actor.weights

/** The weights after each step of a run that nothing happens to. */
async function undisturbed(): Promise<Float32Array[]> {
  const gpu = await Gpu.open()
  const run = await SteeredRun.begin(steeredEngine(gpu, undefined), EXPERIMENT)
  const weights: Float32Array[] = []
  while (!run.isFinished) {
    await (await run.queue()).result
    weights.push(await weightsOf(run))
  }
  gpu.destroy()
  return weights
}

/** A session over real devices. `spoil` is called once, before BROKEN_AT is queued for the first
 * time. */
function realLab(spoil: (run: Real, weights: Float32Array) => void, experiment = EXPERIMENT) {
  const events: LabEvent[] = []
  const runs: Real[] = []
  let isSpoilt = false
  const prepare = async (): Promise<RunDevice> => {
    const gpu = await Gpu.open()
    const engine = steeredEngine(gpu, undefined)
    return {
      adapter: gpu.facts,
      lost: gpu.lost,
      ...UNMEASURED,
      start: async (_matmul, _onProgress, state) => {
        const run = await (state
          ? SteeredRun.resume(engine, state)
          : SteeredRun.begin(engine, experiment))
        runs.push(run)
        const queue = run.queue.bind(run)
        run.queue = async () => {
          if (run.step === BROKEN_AT - 1 && !isSpoilt) {
            isSpoilt = true
            spoil(run, (await weightsOf(run)).slice())
          }
          return queue()
        }
        return {
          trainer: run,
          counts: gpu.counts,
          memory: () => gpu.memory(),
          profile: (work) => gpu.profile(work),
        }
      },
      free: async () => gpu.destroy(),
    }
  }
  const unused = async () => {
    throw new Error('not here')
  }
  const files = memoryFiles()
  const session = new Session({
    open: unused,
    benchmark: unused,
    peak: async () => undefined,
    version: 'test',
    prepare,
    checkpoints: {
      open: async () => ({ files, whyMemory: '' }),
      encode: encodeCheckpoint,
      decode: unused,
      understory: '0',
    },
    post: (event) => events.push(event),
    ...systemClock,
  })
  return { session, events, runs, files }
}

const of = <T extends LabEvent['type']>(events: readonly LabEvent[], type: T) =>
  events.filter((event): event is Extract<LabEvent, { type: T }> => event.type === type)

const DOWN = 'model.layers.1.mlp.down_proj.weight'
const NORM = 'model.layers.1.post_attention_layernorm.weight'

test.each([
  // A weight of a block breaks every token, and the backward pass down to the last norm.
  ['NaN', DOWN, Number.NaN, { parameter: 'model.norm.weight', token: { row: 0, position: 0 } }],
  // What it scales is multiplied with itself, and has no room.
  ['huge', NORM, 1e25, { token: { row: 0, position: 0 } }],
])(
  '%s weights: the run goes back to its last sound state, and on to the same bits',
  async (_, name, value, evidence) => {
    const right = await undisturbed()
    const { session, events, runs, files } = realLab((run, weights) => {
      const own = run.trainer.layout.params.find((param) => param.name === name)
      if (!own) throw new Error(`no ${name}`)
      weights.fill(value, own.offset, own.offset + own.size)
      run.trainer.importWeights(weights)
    })
    const checkpoints = { every_steps: 1, every_ms: 0, budget_bytes: 1e9 }
    const common = { record: 'r', experiment: EXPERIMENT, checkpoints }
    session.handle({ type: 'start', run: 1, paused: false, ...common })
    await expect
      .poll(() => of(events, 'status').at(-1)?.status, { timeout: 50_000 })
      .toMatch(/paused|finished/)

    const [guarded] = of(events, 'guarded')
    expect(guarded.broken.map(({ step }) => step)).toEqual([0, 1, 2].map((i) => BROKEN_AT + i))
    expect(guarded.broken.every(({ skipped }) => skipped > 0)).toBe(true)
    expect(guarded.broken[0].evidence).toMatchObject({ model: 'actor', update: 0, ...evidence })
    // A checkpoint is written while the next step is queued: one of the last two states.
    expect(guarded.step).toBeLessThan(BROKEN_AT)
    expect(guarded.step).toBeGreaterThan(0)
    expect(of(events, 'restored')).toMatchObject([{ why: 'guard', step: guarded.step }])
    expect((await files.list('r')).every(({ step }) => step < BROKEN_AT)).toBe(true)
    expect(of(events, 'failed')).toEqual([])

    const again = runs[1]
    expect(again.step).toBe(guarded.step)
    expect(await weightsOf(again)).toEqual(right[guarded.step])
    session.handle({ type: 'resume' })
    await session.idle
    expect(of(events, 'status').at(-1)?.status).toBe('finished')
    const bytes = await files.read('r', STEPS)
    const last = await decodeCheckpoint(bytes ?? new Uint8Array(), 'the last one')
    expect(last.run.trainer.actor.weights).toEqual(right[STEPS])
    const told = of(events, 'step').slice(-(STEPS - guarded.step))
    expect(told.map(({ step }) => step)[0]).toBe(guarded.step + 1)
    expect(told.every(({ metrics }) => metrics['training/skipped_updates'] === 0)).toBe(true)
  },
)

/** Runs `experiment`, whose final norm is NaN from BROKEN_AT on, until it rests. */
async function runOfNoNumbers(experiment: Experiment) {
  const { session, events, files } = realLab((run, weights) => {
    const norm = run.trainer.layout.params.find(({ name }) => name === 'model.norm.weight')
    if (!norm) throw new Error('no norm')
    weights.fill(Number.NaN, norm.offset, norm.offset + norm.size)
    run.trainer.importWeights(weights)
  }, experiment)
  const checkpoints = { every_steps: 1, every_ms: 0, budget_bytes: 1e9 }
  session.handle({ type: 'start', run: 1, paused: false, record: 'r', experiment, checkpoints })
  const statuses = () => of(events, 'status').map(({ status }) => status)
  await expect.poll(() => statuses().at(-1), { timeout: 50_000 }).toMatch(/paused|finished/)
  const [guarded] = of(events, 'guarded')
  expect(statuses()).not.toContain('finished')
  expect(of(events, 'restored')).toMatchObject([{ why: 'guard', step: guarded.step }])
  expect((await files.list('r')).every(({ step }) => step < BROKEN_AT)).toBe(true)
  return { events, guarded }
}

test('a policy that no gradient meets: entropies that are NaN stop the run, and none is reported as 0', async () => {
  // The policy waits for its critic.
  const waits = { adv_estimator: 'gae', critic: { critic_warmup: STEPS } }
  const { events, guarded } = await runOfNoNumbers(
    tinyExperiment({ phases: [{ kind: 'rl', steps: STEPS, ...waits }] }),
  )
  expect(guarded.broken.map(({ step }) => step)).toEqual([0, 1, 2].map((i) => BROKEN_AT + i))
  for (const { metrics, skipped } of guarded.broken) {
    expect(metrics).toEqual(['actor/entropy', 'layer/entropy/2'])
    expect(skipped).toBe(0)
  }
  const told = of(events, 'step').filter(({ step }) => step >= BROKEN_AT)
  expect(told.map(({ metrics }) => metrics['actor/entropy'])).toEqual(told.map(() => Number.NaN))
})

test('a run that breaks in its last step does not end as if it were finished', async () => {
  const { guarded } = await runOfNoNumbers(
    tinyExperiment({ phases: [{ kind: 'rl', steps: BROKEN_AT }] }),
  )
  const unsound = { model: 'actor', part: 'weights', parameter: 'model.norm.weight' }
  expect(guarded.broken).toMatchObject([{ step: BROKEN_AT, unsound }])
})

test('in the command line too, a run whose weights are not finite at its end has failed', async () => {
  const experiment = tinyExperiment({ phases: [{ kind: 'rl', steps: 2 }] })
  const gpu = await Gpu.open()
  const run = await SteeredRun.begin(steeredEngine(gpu, undefined), experiment)
  run.trainer.importWeights((await weightsOf(run)).fill(Number.NaN))
  const own = new TrainingRun({
    gpu,
    run,
    folder: undefined,
    watch: new RunWatch(experiment, 0),
    origin: { record: 'r' },
  })
  const error = await own.train().catch((error: unknown) => error)
  if (!(error instanceof BrokenNumbers)) throw new Error(`ended well: ${own.status}`)
  expect(own.status).toBe('failed')
  expect(error.broken.map(({ step }) => step)).toEqual([1, 2])
  expect(error.broken[1].unsound).toMatchObject({ model: 'actor', part: 'weights' })
})
