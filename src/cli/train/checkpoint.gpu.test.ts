// A run that continues from the file of a checkpoint after every step, each time in a new trainer:
// the bits of one that is left alone. Here, because lab may not load the GPU side.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { writeVerdicts } from '../../document/experiment/fields/verdicts.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeredState } from '../../host/checkpoints/file/checkpoint.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { HistoryLog, historyUntil } from '../../host/checkpoints/history.ts'
import { tinyExperiment } from '../../host/checkpoints/testing.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { steeredEngine } from '../../rl/train/engine.ts'
import type { Trainer } from '../../rl/train/trainer.ts'
import { numbers } from './testing.ts'

const MADE_ON = { understory: '', adapter: '', kernels: '' }

type Run = SteeredRun<Trainer>

/** Runs a document; `hands` says a person's part before each step, `move` puts another run in its
 * place after it. */
async function play(
  document: Experiment,
  hands: (run: Run) => Promise<void>,
  move: (gpu: Gpu, run: Run, log: HistoryLog) => Promise<Run>,
) {
  const gpu = await Gpu.open()
  let run: Run = await SteeredRun.begin(steeredEngine(gpu, undefined), document)
  const results: ReturnType<typeof numbers>[] = []
  const log = new HistoryLog()
  for (;;) {
    for (const done of await run.obey()) log.add({ type: 'steered', ...done })
    if (run.isFinished) break
    await run.ready()
    await hands(run)
    const { result } = await run.queue()
    const { phase_started, ...step } = numbers(await result)
    if (phase_started)
      log.add({ type: 'phase', step: Math.max(0, step.step - 1), ...phase_started })
    log.add({ type: 'step', ...step })
    const { preferences } = run
    if (preferences)
      log.add({ type: 'pairs', phase: run.phase, verdicts: writeVerdicts(preferences.log) })
    results.push({ ...step, ...(phase_started && { phase_started }) })
    run = await move(gpu, run, log)
  }
  const { trainer, document: told } = await run.exportState()
  gpu.destroy()
  return { results, trainer, told, history: log.history }
}

/** Through the bytes of a file, into a trainer on the same device that knows nothing of the one
 * before. */
async function throughFile(gpu: Gpu, run: Run, log: HistoryLog): Promise<Run> {
  const state = await run.exportState()
  const history = historyUntil(log.history, state)
  // Nothing of what was reported so far is lost or belongs to later steps.
  expect(history).toEqual(log.history)
  const bytes = await encodeCheckpoint({ record: 'run', run: state, history, made_on: MADE_ON })
  const back = await decodeCheckpoint(bytes, 'file')
  gpu.freeAll()
  return SteeredRun.resume(steeredEngine(gpu, undefined), back.run)
}

/** Bit for bit, and quicker than number by number. */
const digests = (_: string, value: unknown): unknown =>
  ArrayBuffer.isView(value)
    ? createHash('sha256')
        .update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
        .digest('hex')
    : value

async function compare(document: Experiment, hands: (run: Run) => Promise<void> = async () => {}) {
  const whole = await play(document, hands, async (_, run) => run)
  const moved = await play(document, hands, throughFile)
  expect(moved.results).toEqual(whole.results)
  expect(moved.told).toEqual(whole.told)
  expect(JSON.parse(JSON.stringify(moved.trainer, digests))).toEqual(
    JSON.parse(JSON.stringify(whole.trainer, digests)),
  )
  return whole
}

// src/rl/train/moved moves the same states without a file.
test.skipIf(!process.env.LONG_TESTS)(
  'warm start, GRPO, PPO with an adaptive KL, an inner layer and dynamic sampling continue bit for bit',
  async () => {
    const { results, trainer } = await compare(
      tinyExperiment({
        phases: [
          { kind: 'sft', steps: 2 },
          { kind: 'rl', steps: 2 },
          {
            kind: 'rl',
            steps: 3,
            adv_estimator: 'gae',
            critic: { critic_warmup: 2 },
            algorithm: {
              use_kl_in_reward: true,
              kl_ctrl: { type: 'adaptive', kl_coef: 0.2, target_kl: 0.001, horizon: 50 },
            },
            stop: { plateau_steps: 1 },
          },
          { kind: 'rl', steps: 2, target_layer: 1, target_readout: 'normed' },
          {
            kind: 'rl',
            steps: 2,
            target_layer: 1,
            decay_final_norm: true,
            actor: { entropy_coeff: 0.05, entropy_of: 'final', optim: { weight_decay: 0.5 } },
          },
          {
            kind: 'rl',
            steps: 2,
            reset_optimizer: true,
            actor: { clip_ratio_high: 0.28, loss_agg_mode: 'token-mean', use_kl_loss: true },
            algorithm: {
              filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 3 },
              overlong_buffer: { len: 2, penalty_factor: 1 },
            },
          },
        ],
        probe: { rows: 8, internals: true },
      }),
    )
    const of = (name: string) => results.flatMap(({ metrics }) => metrics[name] ?? [])
    expect(new Set(of('actor/reward_kl_penalty_coeff')).size).toBeGreaterThan(1)
    expect(of('train/num_gen_batches').some((batches) => batches > 1)).toBe(true)
    expect(trainer.critic?.control.some((value) => value !== 0)).toBe(true)
  },
)

test.skipIf(!process.env.LONG_TESTS)(
  'a person’s verdicts between the steps and what steering did to the run come along',
  async () => {
    const said: Readonly<Record<number, string>> = { 2: 'aab', 4: 'ub' }
    const { results, history, told } = await compare(
      tinyExperiment({
        phases: [
          { kind: 'sft', steps: 2 },
          {
            kind: 'reward_model',
            steps: 4,
            pairs: { source: 'human', count: 5, held_out: 2, min_pairs: 3 },
          },
          { kind: 'rl', steps: 2, reward_model: { enable: true } },
        ],
        steering: [
          { step: 1, kind: 'set', path: 'actor.optim.lr', value: 0.001 },
          // Other buffers in the middle.
          {
            step: 3,
            kind: 'append_phase',
            phase: {
              kind: 'rl',
              steps: 2,
              rollout: { max_response_length: 6 },
              reward_model: { enable: true },
            },
          },
          { step: 5, kind: 'next_phase' },
        ],
      }),
      async (run) => {
        for (const letter of (run.preferences && said[run.step]) ?? '')
          if (letter === 'u') run.undoVerdict()
          else run.decide(run.preferences?.pending[0]?.id ?? -1, letter === 'a' ? 'a' : 'b')
      },
    )
    expect(results.map(({ phase }) => phase).join('')).toBe('0001112233')
    expect(history.verdicts).toEqual({ 1: 'aab2ub' })
    expect(told.steering).toHaveLength(3)
  },
)

test('a state that is still read back when steering needs other buffers is whole', async () => {
  const document = tinyExperiment({
    phases: [{ kind: 'rl', steps: 4 }],
    steering: [
      {
        step: 2,
        kind: 'insert_phase',
        phase: { kind: 'rl', steps: 2, rollout: { max_response_length: 6 } },
      },
    ],
  })
  const leave = async (_: Gpu, run: Run) => run
  const whole = await play(document, async () => {}, leave)
  const states: Promise<SteeredState>[] = []
  const trainers = new Set<Trainer>()
  await play(
    document,
    async () => {},
    async (_, run) => {
      states.push(run.exportState())
      trainers.add(run.trainer)
      return run
    },
  )
  expect(trainers.size).toBe(2)
  const [, , second] = await Promise.all(states)
  expect(second).toMatchObject({ done: 0, trainer: { step: 2 } })
  const gpu = await Gpu.open()
  const run = await SteeredRun.resume(steeredEngine(gpu, undefined), second)
  await run.obey()
  const { result } = await run.queue()
  expect(numbers(await result)).toEqual(whole.results[3])
  gpu.destroy()
})
