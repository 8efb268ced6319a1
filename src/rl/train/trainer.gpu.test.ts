import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { onOwnDevice } from '../../kernels/device/testing.ts'
import { expectClose } from '../../kernels/testing.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { planMemory } from './memory.ts'
import type { StepResult } from './step_result.ts'
import { Trainer } from './trainer.ts'

const open = () => Gpu.open()

async function train(config: TrainerConfig) {
  const trainer = await Trainer.create(await open(), config)
  const done = await finish(trainer)
  trainer.destroy()
  return done
}

async function finish(trainer: Trainer) {
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  return { results, weights: await trainer.exportWeights() }
}

/** Everything but wall times and what they decide. */
const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics }) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) =>
          !/^timing_|^perf\/(time_per_step|throughput|submits|longest_dispatch_ms|split_dispatches)$/.test(
            name,
          ),
      ),
    ),
  )

const INNER: RlPhase = { ...RL, name: 'inner', target_layer: 2 }
const BUPO: TrainerConfig = {
  ...CONFIG,
  phases: [SFT, INNER, RL],
  validation: { test_freq: 2, prompts: 10, n: 2 },
}

test('a run is its experiment: the same one gives the same bits, another seed does not', async () => {
  const first = await train(BUPO)
  const second = await train(BUPO)
  expect(numbers(second.results)).toEqual(numbers(first.results))
  expect(second.weights).toEqual(first.weights)
  const other = await train({ ...BUPO, seed: 2 })
  expect(numbers(other.results)).not.toEqual(numbers(first.results))
})

test('phases take exactly their steps, in order, and say why each began', async () => {
  const { results } = await train(BUPO)
  expect(results.map(({ step, phase, phase_step }) => [step, phase, phase_step])).toEqual([
    [0, 0, 0],
    [1, 0, 1],
    [2, 0, 2],
    [3, 0, 3],
    [4, 1, 1],
    [5, 1, 2],
    [6, 1, 3],
    [7, 2, 1],
    [8, 2, 2],
    [9, 2, 3],
  ])
  const started = results.flatMap(({ step, phase_started }) =>
    phase_started ? [[step, phase_started]] : [],
  )
  expect(started).toEqual([
    [0, { phase: 0, reason: 'start' }],
    [4, { phase: 1, reason: 'steps' }],
    [7, { phase: 2, reason: 'steps' }],
  ])
})

test('steps queued ahead report the same numbers and phases as steps awaited one by one', async () => {
  const { results } = await train(BUPO)
  const trainer = await Trainer.create(await open(), BUPO)
  const ahead: StepResult[] = []
  let in_flight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    if (in_flight) ahead.push(await in_flight)
    in_flight = result
  }
  if (in_flight) ahead.push(await in_flight)
  trainer.destroy()
  expect(numbers(ahead)).toEqual(numbers(results))
  expect(ahead.map((r) => r.phase_started)).toEqual(results.map((r) => r.phase_started))
})

test('every step reports what it computed, and only that', async () => {
  const { results } = await train(BUPO)
  const V = CONFIG.model.vocab_size
  for (const { step, metrics, samples } of results.slice(1)) {
    const is_rl = step > 3
    expect(is_rl).toBe('critic/score/mean' in metrics)
    expect(is_rl).toBe('actor/pg_loss' in metrics)
    expect(!is_rl).toBe('train/loss' in metrics)
    expect(step % 2 === 0 || step % 3 === 0, `step ${step}`).toBe(
      'val-aux/parity/acc/greedy' in metrics,
    )
    for (let l = 0; l <= 3; l++) {
      expect(metrics[`layer/entropy/${l}`]).toBeGreaterThan(0)
      expect(metrics[`layer/entropy/${l}`]).toBeLessThanOrEqual(Math.log(V) + 1e-5)
    }
    if (!is_rl) continue
    expect(samples.length).toBe(16)
    const mean = samples.reduce((sum, s) => sum + s.score, 0) / 16
    expect(metrics['critic/score/mean']).toBeCloseTo(mean, 12)
    const tokens = samples.reduce((sum, s) => sum + s.response_length, 0)
    expect(metrics['response_length/mean']).toBeCloseTo(tokens / 16, 12)
    expect(metrics['actor/entropy']).toBeGreaterThan(0)
    expect(metrics['actor/entropy']).toBeLessThanOrEqual(Math.log(V) + 1e-5)
    // A group's advantages add up to nothing.
    for (let g = 0; g < 4; g++) {
      const group = samples.slice(g * 4, g * 4 + 4).map((s) => s.advantage)
      expect(group.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 9)
    }
  }
})

test('equal rewards leave the weights as they are', async () => {
  const flat = { ...CONFIG.task, score: () => 0 }
  const gpu = await open()
  const trainer = await Trainer.create(gpu, { ...CONFIG, task: flat, phases: [RL] })
  const before = await trainer.exportWeights()
  await trainer.next()
  const { metrics } = await trainer.next()
  expect(metrics['actor/grad_norm']).toBe(0)
  expect(metrics['group/informative']).toBe(0)
  expect(await trainer.exportWeights()).toEqual(before)
  trainer.destroy()
})

test('after the preparation nothing is created, and a step reads back twice in three submits', async () => {
  const gpu = await open()
  const phases = [
    { ...SFT, steps: 4 },
    { ...INNER, steps: 4 },
    { ...RL, steps: 4 },
  ]
  const validation = { test_freq: 3, prompts: 20, n: 1 }
  const trainer = await Trainer.create(gpu, { ...CONFIG, phases, validation })
  const made = { ...gpu.counts }
  // Step 0, the warm start, the inner phase and one more; each queued before the numbers of the last are awaited.
  let in_flight: Promise<StepResult> | undefined
  for (let i = 0; i < 10; i++) {
    const { result } = await trainer.queue()
    await in_flight
    in_flight = result
  }
  await in_flight
  const warm = { ...gpu.counts }
  const { metrics } = await trainer.next()
  const { reads, submits, dispatches } = gpu.counts
  while (!trainer.isFinished) await trainer.next()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect({ buffers, bind_groups, pipelines, live_bytes }).toEqual({
    buffers: made.buffers,
    bind_groups: made.bind_groups,
    pipelines: made.pipelines,
    live_bytes: made.live_bytes,
  })
  expect(metrics['perf/dispatches']).toBe(dispatches - warm.dispatches)
  expect(metrics['perf/submits']).toBe(3)
  expect(reads - warm.reads).toBe(2)
  expect(submits - warm.submits).toBe(3)
  trainer.destroy()
})

test('next phase ends the current one after the step in flight', async () => {
  const gpu = await open()
  const trainer = await Trainer.create(gpu, {
    ...BUPO,
    validation: { test_freq: 0, prompts: 10, n: 0 },
  })
  await trainer.next()
  await trainer.next()
  trainer.nextPhase()
  const { step, phase, phase_step, phase_started } = await trainer.next()
  expect({ step, phase, phase_step, phase_started }).toEqual({
    step: 2,
    phase: 1,
    phase_step: 1,
    phase_started: { phase: 1, reason: 'next_phase' },
  })
  trainer.nextPhase()
  await trainer.next()
  expect(trainer.isFinished).toBe(false)
  trainer.nextPhase()
  expect(trainer.isFinished).toBe(true)
  trainer.destroy()
})

test('the plan counts the bytes that are really allocated', async () => {
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, BUPO)
  const plan = planMemory(BUPO)
  expect(plan.total()).toBe(gpu.counts.live_bytes - before)
  for (const [kind, bytes] of Object.entries(gpu.memory()))
    if (kind !== 'scratch')
      expect([kind, plan.bytes[kind as keyof typeof plan.bytes]]).toEqual([kind, bytes])
  trainer.destroy()
})

test('an experiment beyond the adapter is refused with the tensor and both sizes, before anything is allocated', async () => {
  const gpu = await open()
  const before = gpu.counts.buffers
  const model = { ...CONFIG.model, vocab_size: 2 ** 20, hidden_size: 2 ** 11 }
  await expect(Trainer.create(gpu, { ...CONFIG, model })).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringMatching(/needs \d+\.\d MB; this adapter binds at most \d+\.\d MB/),
  })
  expect(gpu.counts.buffers).toBe(before)
  gpu.destroy()
})

test('a warm start that is put back gives the same reinforcement steps', async () => {
  const gpu = await open()
  const first = await Trainer.create(gpu, { ...CONFIG, phases: [RL] })
  const start = (await first.exportWeights()).map((w) => w * 1.1)
  const run = async () => {
    const trainer = await Trainer.create(await open(), { ...CONFIG, phases: [RL] })
    trainer.importWeights(start)
    const results = [await trainer.next(), await trainer.next(), await trainer.next()]
    trainer.destroy()
    return numbers(results)
  }
  expect(await run()).toEqual(await run())
  expect(() => first.importWeights(new Float32Array(3))).toThrow(/expected \d+ values, got 3/)
  first.destroy()
})

test('updates with a non-finite gradient are counted over the run, and the weights stay', async () => {
  const trainer = await Trainer.create(await open(), CONFIG)
  const broken = (await trainer.exportWeights()).slice()
  broken[trainer.layout.slices.norm.offset] = Number.NaN
  trainer.importWeights(broken)
  await trainer.next()
  const counts: number[][] = []
  for (let i = 0; i < 5; i++) {
    const { metrics } = await trainer.next()
    counts.push([metrics['training/skipped_updates'], metrics['training/skipped_updates_total']])
  }
  // Three supervised steps of one update, then steps of two.
  expect(counts).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 5],
    [2, 7],
  ])
  expect(await trainer.exportWeights()).toEqual(broken)
  trainer.destroy()
})

test('an update that is left out says which parameter and which token broke it', async () => {
  const untied = { ...CONFIG, model: { ...CONFIG.model, tie_word_embeddings: false } }
  const trainer = await Trainer.create(await open(), untied)
  const start = await trainer.exportWeights()
  await trainer.next()
  const { layout } = trainer
  const C = CONFIG.model.hidden_size
  const step = async (place: number, value: number) => {
    const weights = start.slice()
    weights[place] = value
    trainer.importWeights(weights)
    return (await trainer.next()).non_finite
  }
  // Nothing but the embedding of one digit: rows without that digit are sound, and all other gradients of theirs.
  const digit = CONFIG.tokenizer.encode('3')[0]
  const of_digit = await step(layout.slices.embed_tokens.offset + digit * C, Number.NaN)
  expect(of_digit).toMatchObject({ model: 'actor', update: 0 })
  expect(`${of_digit?.token?.prompt}${of_digit?.token?.response}`).toContain('3')
  expect(of_digit?.token?.row).toBeGreaterThan(0)
  // A weight of a block: every token is broken, and the backward pass from its beginning on.
  const { params } = layout
  const down = params.find(({ name }) => name === 'model.layers.1.mlp.down_proj.weight')
  const of_block = await step(down?.offset ?? -1, Number.NaN)
  expect(of_block?.token).toMatchObject({ row: 0, position: 0 })
  expect(of_block?.parameter).toBe('model.norm.weight')
  expect(await step(down?.offset ?? -1, start[down?.offset ?? -1])).toBeUndefined()
  trainer.destroy()
})

test('a broken token is named by its own row in a batch that is shuffled', async () => {
  const shuffled = { ...RL, actor: { ...RL.actor, shuffle: true, ppo_epochs: 2 } }
  const model = { ...CONFIG.model, tie_word_embeddings: false }
  const trainer = await Trainer.create(await open(), { ...CONFIG, model, phases: [shuffled] })
  const weights = await trainer.exportWeights()
  await trainer.next()
  const digit = CONFIG.tokenizer.encode('3')[0]
  weights[trainer.layout.slices.embed_tokens.offset + digit * CONFIG.model.hidden_size] = Number.NaN
  trainer.importWeights(weights)
  const { non_finite, samples } = await trainer.next()
  const { row, prompt, response } = non_finite?.token ?? { row: -1, prompt: '', response: '' }
  expect(`${prompt}${response}`).toContain('3')
  expect(samples[row]).toMatchObject({ prompt, response })
  trainer.destroy()
})

test('a device that goes away during validation fails that step, and nothing is left unhandled', async () => {
  const gpu = await onOwnDevice(open)
  const validation = { test_freq: 1, prompts: 10, n: 1 }
  const trainer = await Trainer.create(gpu, { ...CONFIG, validation })
  await trainer.next()
  // The step's metrics and the first validation batch are both on their way.
  const step = trainer.queue()
  gpu.destroy()
  await expect(step).rejects.toMatchObject({ name: 'GpuError' })
  await new Promise((resolve) => setTimeout(resolve, 50))
})

const PPO: RlPhase = {
  ...RL,
  name: 'ppo',
  steps: 4,
  adv_estimator: 'gae',
  actor: { ...RL.actor, ppo_epochs: 2 },
  algorithm: { ...RL.algorithm, lam: 0.95 },
}
const only = (...phases: TrainerConfig['phases']): TrainerConfig => ({ ...CONFIG, phases })
const rl = (
  change: Partial<RlPhase>,
  algorithm: Partial<RlPhase['algorithm']> = {},
  actor: Partial<RlPhase['actor']> = {},
): RlPhase => ({
  ...RL,
  steps: 2,
  ...change,
  algorithm: { ...RL.algorithm, ...algorithm },
  actor: { ...RL.actor, ...actor },
})
const corrected = (change: Partial<RlPhase['algorithm']['rollout_correction']>) => ({
  rollout_correction: { ...RL.algorithm.rollout_correction, ...change },
})
/** One optimizer step per training step: at a ratio of 1 the loss is known. */
const ONE_UPDATE = { ppo_mini_batch_size: 4 }
/** Weights whose responses now and then end, and then have scores of both kinds: fresh ones seldom do. */
const { weights: WARM } = await train(
  only({ ...SFT, steps: 18, optim: { ...SFT.optim, lr: 0.015 } }),
)
/** They share a device, which has then compiled most of what the next one needs. */
const shared = await open()
async function warm(config: TrainerConfig) {
  const trainer = await Trainer.create(shared, config)
  trainer.importWeights(WARM)
  return finish(trainer)
}
const rlSteps = (results: readonly StepResult[]) => results.filter(({ samples }) => samples.length)

test("PPO reports the critic's metrics under verl's names, and 2 epochs of 2 mini-batches", async () => {
  const { results } = await warm(only({ ...PPO, steps: 2 }))
  for (const { metrics } of results.slice(1)) {
    for (const name of ['vf_loss', 'vf_clipfrac', 'vpred_mean', 'grad_norm', 'lr'])
      expect(metrics[`critic/${name}`], name).toEqual(expect.any(Number))
    for (const name of ['values', 'returns', 'advantages'])
      for (const of of ['mean', 'max', 'min'])
        expect(metrics[`critic/${name}/${of}`], name).toEqual(expect.any(Number))
    expect(metrics['critic/vf_explained_var']).toBeLessThanOrEqual(1)
    expect(metrics['critic/vf_loss']).toBeGreaterThan(0)
    expect(metrics['critic/grad_norm']).toBeGreaterThan(0)
    // Whitened over the batch's tokens.
    expect(metrics['critic/advantages/mean']).toBeCloseTo(0, 6)
    expect(metrics['actor/pg_clipfrac']).toBeGreaterThanOrEqual(0)
  }
})

test('in warm-up steps the critic learns and the policy stays bit for bit', async () => {
  // verl's rule: the actor learns from step critic_warmup on.
  const run = async (lr: number) => {
    const critic = { ...PPO.critic, critic_warmup: 3, optim: { ...PPO.critic.optim, lr } }
    const trainer = await Trainer.create(await open(), only({ ...PPO, critic }))
    const start = await trainer.exportWeights()
    const results = [await trainer.next()]
    const moved: boolean[] = []
    for (let step = 1; step <= 4; step++) {
      const before = await trainer.exportWeights()
      results.push(await trainer.next())
      const after = await trainer.exportWeights()
      moved.push(after.some((w, i) => w !== before[i]))
      if (step === 2) expect(after).toEqual(start)
    }
    trainer.destroy()
    return { results: results.slice(1), moved }
  }
  const [still, learning] = [await run(0), await run(0.02)]
  for (const { results, moved } of [still, learning]) {
    expect(moved).toEqual([false, false, true, true])
    expect(results.map(({ metrics }) => 'actor/pg_loss' in metrics)).toEqual(moved)
    expect(results.map(({ metrics }) => 'actor/lr' in metrics)).toEqual(moved)
    expect(results.every(({ metrics }) => metrics['training/skipped_updates'] === 0)).toBe(true)
  }
  // Up to the first actor update both runs sample the same; only the critics differ, from their first update on.
  for (const i of [0, 1, 2]) {
    const [a, b] = [still.results[i], learning.results[i]]
    expect(a.samples.map((s) => s.response)).toEqual(b.samples.map((s) => s.response))
    const values = [a, b].map(({ metrics }) => metrics['critic/values/mean'])
    if (i === 0) expect(values[1]).toBe(values[0])
    else expect(Math.abs(values[1] - values[0])).toBeGreaterThan(1e-3)
  }
})

test('the critic begins as the policy is when it is first asked', async () => {
  const trainer = await Trainer.create(await open(), only({ ...PPO, steps: 1 }))
  const weights = (await trainer.exportWeights()).slice()
  // With a final norm of 0 every state is 0, and so is every value: of fresh weights they are not.
  const { offset, shape } = trainer.layout.slices.norm
  trainer.importWeights(weights.fill(0, offset, offset + shape[0]))
  await trainer.next()
  const { metrics } = await trainer.next()
  expect([metrics['critic/values/min'], metrics['critic/values/max']]).toEqual([0, 0])
  trainer.destroy()
})

test('KL in the loss and in the reward: 0 at first, then not, and the coefficient follows it', async () => {
  const kl = rl(
    { steps: 3 },
    {
      use_kl_in_reward: true,
      kl_penalty: 'k2',
      kl_ctrl: { type: 'adaptive', kl_coef: 0.1, horizon: 160, target_kl: 0.5 },
    },
    { ...ONE_UPDATE, use_kl_loss: true, kl_loss_coef: 0.2, kl_loss_type: 'k2' },
  )
  // After a warm start the reference is what it left behind.
  for (const phases of [[kl], [SFT, kl]]) {
    const { results } = await warm(only(...phases))
    const [first, second, third] = rlSteps(results).map(({ metrics }) => metrics)
    expect(first['actor/kl_loss']).toBe(0)
    expect(first['actor/reward_kl_penalty']).toBe(0)
    expect(first['actor/reward_kl_penalty_coeff']).toBe(0.1)
    for (const metrics of [second, third]) {
      expect(metrics['actor/kl_loss']).toBeGreaterThan(0)
      expect(metrics['actor/reward_kl_penalty']).toBeGreaterThan(0)
      expect(metrics['actor/kl_coef']).toBe(0.2)
      expect(metrics['critic/rewards/mean']).toBeLessThan(metrics['critic/score/mean'])
    }
    expect(first['critic/rewards/mean']).toBe(first['critic/score/mean'])
    // Far below the target, so down by a fifth of 16 / horizon each time.
    expect(second['actor/reward_kl_penalty_coeff']).toBeCloseTo(0.1 * 0.98, 12)
    expect(third['actor/reward_kl_penalty_coeff']).toBeCloseTo(0.1 * 0.98 ** 2, 12)
  }
})

test('the reference of imported weights is those weights', async () => {
  const phase = rl({}, {}, { ...ONE_UPDATE, use_kl_loss: true })
  const trainer = await Trainer.create(await open(), only(phase, PPO))
  trainer.importWeights((await trainer.exportWeights()).map((w) => w * 1.3))
  await trainer.next()
  const { metrics } = await trainer.next()
  expect(metrics['actor/kl_loss']).toBe(0)
  trainer.destroy()
})

test.for([
  ['gae', PPO],
  ['remax', rl({ adv_estimator: 'remax' })],
  ['reinforce_plus_plus', rl({ adv_estimator: 'reinforce_plus_plus' })],
  ['rloo', rl({ adv_estimator: 'rloo' })],
  ['opo', rl({ adv_estimator: 'opo' })],
  ['gpg', rl({ adv_estimator: 'gpg' }, {}, { loss_mode: 'gpg' })],
  ['optimal_token_baseline', rl({ adv_estimator: 'optimal_token_baseline' })],
  [
    'tir_optimal_token_baseline in bypass mode',
    rl({ adv_estimator: 'tir_optimal_token_baseline' }, corrected({ bypass_mode: true })),
  ],
  ['clip_cov', rl({}, {}, { loss_mode: 'clip_cov' })],
] as const)(
  '%s: the same experiment gives the same bits, and learns something',
  async ([, phase]) => {
    const config = only({ ...phase, steps: 2 })
    const [first, second] = [await warm(config), await warm(config)]
    expect(numbers(second.results)).toEqual(numbers(first.results))
    expect(second.weights).toEqual(first.weights)
    for (const { metrics, samples } of rlSteps(first.results)) {
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
      expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
      expect(samples).toHaveLength(16)
    }
  },
)

test("remax: advantages are scores less one greedy score per prompt, and the entropy is the samples'", async () => {
  const remax = await warm(only(rl({ adv_estimator: 'remax', steps: 1 })))
  const grpo = await warm(only(rl({ steps: 1 })))
  const [a, b] = [remax.results[1], grpo.results[1]]
  expect(a.samples.map((s) => s.response)).toEqual(b.samples.map((s) => s.response))
  expect(a.metrics['actor/entropy']).toBe(b.metrics['actor/entropy'])
  const baselines = a.samples.map(({ score, advantage }) => score - advantage)
  for (let row = 0; row < 16; row++) {
    expect(baselines[row]).toBeCloseTo(baselines[row - (row % 4)], 6)
    expect(Math.min(Math.abs(baselines[row]), Math.abs(baselines[row] - 1))).toBeLessThan(1e-6)
  }
})

test('balance_batch cuts other mini-batches from the same responses, and reports them in their order', async () => {
  const [plain, balanced] = [
    await warm(only(rl({ steps: 1 }))),
    await warm(only(rl({ steps: 1 }, { balance_batch: true }))),
  ]
  const [a, b] = [plain.results[1], balanced.results[1]]
  const shown = ({ samples }: StepResult) =>
    samples.map(({ prompt, response, score, response_length }) => [
      prompt,
      response,
      score,
      response_length,
    ])
  expect(new Set(a.samples.map((s) => s.response_length)).size).toBeGreaterThan(1)
  expect(shown(b)).toEqual(shown(a))
  a.samples.forEach(({ advantage }, i) => {
    expect(b.samples[i].advantage).toBeCloseTo(advantage, 9)
  })
  for (const name of ['critic/score/mean', 'group/informative', 'response_length/mean'])
    expect(b.metrics[name], name).toBe(a.metrics[name])
  expect(balanced.weights).not.toEqual(plain.weights)
})

test('a response near the maximum length is penalised where the experiment says so', async () => {
  const overlong_buffer = { len: 2, penalty_factor: 0.5 }
  const { results } = await warm(only(rl({ steps: 1 }, { overlong_buffer })))
  const { metrics, samples } = results[1]
  // R = 3: nothing up to 1 token, then half of the factor for each.
  const rewards = samples.map((s) => s.score - 0.25 * (s.response_length - 1))
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length
  expect(metrics['critic/score/mean']).toBeCloseTo(mean, 9)
  expect(metrics['critic/score/min']).toBe(Math.min(...rewards))
  expect(Math.min(...rewards)).toBeLessThan(0)
})

describe('rollout correction', () => {
  test('decoupled: weights are near 1 and nothing is rejected, because both log-probs agree', async () => {
    const correction = corrected({
      rollout_is: 'token',
      rollout_rs: 'seq_mean_k1',
      rollout_rs_threshold: '0.99_1.01',
    })
    const { results, weights } = await warm(only(rl({}, correction, ONE_UPDATE)))
    const plain = await warm(only(rl({}, {}, ONE_UPDATE)))
    for (const { metrics } of rlSteps(results)) {
      expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
      expect(metrics['rollout_corr/rollout_is_max']).toBeCloseTo(1, 3)
      expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBe(0)
      expect(metrics['rollout_corr/kl']).toBeCloseTo(0, 5)
      expect(metrics['rollout_corr/training_ppl']).toBeGreaterThan(1)
    }
    expect(plain.weights.length).toBe(weights.length)
    const moved = Math.hypot(...plain.weights.map((w, i) => w - weights[i]))
    expect(moved).toBeLessThan(0.05)
  })

  test.for(['ppo_clip', 'reinforce'] as const)('bypass with %s', async (loss_type) => {
    const correction = corrected({
      bypass_mode: true,
      loss_type,
      rollout_is: 'sequence',
      rollout_rs: 'token_k1',
      rollout_rs_threshold: 2,
    })
    const { results } = await warm(only(rl({}, correction, ONE_UPDATE)))
    for (const { metrics } of rlSteps(results)) {
      // Of the policy being updated, which has not moved yet.
      expect(metrics['rollout_corr/kl']).toBeCloseTo(0, 5)
      expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBe(0)
      expect('rollout_corr/rollout_is_mean' in metrics).toBe(loss_type === 'reinforce')
      if (loss_type === 'reinforce')
        expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
      expect('actor/pg_clipfrac' in metrics).toBe(loss_type === 'ppo_clip')
      expect(metrics['actor/ppo_kl']).toBeCloseTo(0, 5)
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    }
  })

  test('bypass mode still computes what the token baseline needs of the old policy', async () => {
    const baseline = { adv_estimator: 'optimal_token_baseline', steps: 1 } as const
    const bypass = rl(baseline, corrected({ bypass_mode: true }))
    const [a, b] = [await warm(only(rl(baseline))), await warm(only(bypass))]
    const advantages = [a, b].map(({ results }) => results[1].samples.map((s) => s.advantage))
    expect(Math.max(...advantages[0].map(Math.abs))).toBeGreaterThan(0.1)
    expectClose(advantages[1], advantages[0], { atol: 1e-4, rtol: 1e-3 })
  })

  test('weights of one phase do not reach the next', async () => {
    // All weights are cut to a half.
    const half = rl({}, corrected({ rollout_is: 'token', rollout_is_threshold: 0.5 }), ONE_UPDATE)
    const { results } = await warm(only(half, rl({ name: 'plain' }, {}, ONE_UPDATE)))
    for (const { phase, metrics, samples } of rlSteps(results)) {
      const tokens = samples.reduce((sum, s) => sum + s.response_length, 0)
      const sum = samples.reduce((total, s) => total + s.advantage * s.response_length, 0)
      expect(Math.abs(sum / tokens)).toBeGreaterThan(1e-3)
      expect(metrics['actor/pg_loss']).toBeCloseTo((-sum / tokens) * (phase === 0 ? 0.5 : 1), 5)
    }
  })

  test.for([
    ['grpo', RL],
    ['gae', PPO],
  ] as const)(
    '%s: a batch that is rejected whole moves nothing, and the run goes on',
    async ([, phase]) => {
      // π_rollout / π would have to be above 1.5.
      const all = corrected({ rollout_rs: 'seq_mean_k1', rollout_rs_threshold: '1.5_2' })
      const rejecting = { ...phase, steps: 2, algorithm: { ...phase.algorithm, ...all } }
      const trainer = await Trainer.create(await open(), only(rejecting, { ...phase, steps: 1 }))
      trainer.importWeights(WARM)
      await trainer.next()
      for (let step = 0; step < 2; step++) {
        const { metrics, samples } = await trainer.next()
        expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1, 6)
        expect('actor/pg_loss' in metrics || 'critic/vf_loss' in metrics).toBe(false)
        expect(metrics['training/skipped_updates']).toBe(0)
        expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
        expect(samples.every((s) => s.advantage === 0)).toBe(true)
      }
      expect(await trainer.exportWeights()).toEqual(WARM)
      const { metrics } = await trainer.next()
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
      trainer.destroy()
    },
  )
})

test.for(['gae', 'reinforce_plus_plus'] as const)(
  '%s: a batch of one token has no spread to be divided by, trains nothing, and the run goes on',
  async (adv_estimator) => {
    const rollout = { ...RL.rollout, train_batch_size: 1, n: 1, max_response_length: 1 }
    const phase = rl({ adv_estimator, rollout }, {}, { ppo_mini_batch_size: 1 })
    const { results, weights } = await warm(only(phase))
    for (const { metrics } of rlSteps(results)) {
      expect('actor/pg_loss' in metrics || 'critic/vf_loss' in metrics).toBe(false)
      expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
    }
    expect(weights).toEqual(WARM)
  },
)

test('a phase of shorter responses counts its own columns, not the longest of any phase', async () => {
  const norm = { ...ONE_UPDATE, loss_agg_mode: 'seq-mean-token-sum-norm' } as const
  // Advantages that do not add up to nothing.
  const remax = { adv_estimator: 'remax' } as const
  const short = { ...RL.rollout, max_response_length: 2 }
  const { results } = await warm(
    only(
      rl({ ...remax, steps: 1 }, {}, norm),
      rl({ ...remax, steps: 1, rollout: short }, {}, norm),
      { ...PPO, steps: 1, rollout: short },
      rl({ steps: 1, rollout: short }, corrected({ rollout_is: 'token' })),
    ),
  )
  const [, long, ...shorter] = results
  for (const { metrics, samples } of shorter) {
    expect(Math.max(...samples.map((s) => s.response_length))).toBeLessThanOrEqual(2)
    const full = samples.filter((s) => s.response_length === 2).length / samples.length
    expect(metrics['response_length/clip_ratio']).toBe(full)
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
  }
  for (const [{ metrics, samples }, R] of [
    [long, 3],
    [shorter[0], 2],
  ] as const) {
    const sum = samples.reduce((total, s) => total + s.advantage * s.response_length, 0)
    expect(Math.abs(sum)).toBeGreaterThan(0.01)
    expect(metrics['actor/pg_loss']).toBeCloseTo(-sum / R, 4)
  }
  expect(shorter[2].metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
})

test('the critic warms up when it first appears in a stage, and the stage after a warm start begins anew', async () => {
  const critic = { ...PPO.critic, critic_warmup: 2 }
  const kl = { ...ONE_UPDATE, use_kl_loss: true }
  const late = { ...PPO, steps: 2, critic, actor: { ...PPO.actor, ...kl, ppo_epochs: 1 } }
  const grpo = rl({ steps: 2 }, {}, kl)
  const { results } = await warm(only(grpo, late, { ...SFT, steps: 1 }, late))
  const steps = results.slice(1)
  expect(steps.map(({ metrics }) => 'actor/pg_loss' in metrics)).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
    true,
  ])
  expect(steps.map(({ metrics }) => 'critic/vf_loss' in metrics)).toEqual([
    false,
    false,
    true,
    true,
    false,
    true,
    true,
  ])
  // The second stage's reference is the policy after the second warm start, which its critic left alone for one step.
  expect(steps[3].metrics['actor/kl_loss']).toBeGreaterThan(0)
  expect(steps[6].metrics['actor/kl_loss']).toBe(0)
})

test('with critic, reference and correction too, the plan is what is allocated and a step creates nothing', async () => {
  const phases = [
    SFT,
    {
      ...PPO,
      steps: 5,
      actor: { ...PPO.actor, use_kl_loss: true, ppo_micro_batch_size_per_gpu: 4 },
      algorithm: {
        ...PPO.algorithm,
        use_kl_in_reward: true,
        ...corrected({ rollout_is: 'token' }),
      },
    },
    rl({ steps: 2, adv_estimator: 'remax' }, corrected({ bypass_mode: true })),
    rl({ steps: 2, adv_estimator: 'optimal_token_baseline' }),
  ]
  const config = { ...only(...phases), validation: { test_freq: 4, prompts: 10, n: 2 } }
  const gpu = await open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  const plan = planMemory(config)
  expect(plan.total()).toBe(live_bytes - before)
  for (const [kind, bytes] of Object.entries(gpu.memory()))
    if (kind !== 'scratch')
      expect([kind, plan.bytes[kind as keyof typeof plan.bytes]]).toEqual([kind, bytes])
  let in_flight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    await in_flight
    in_flight = result
  }
  await in_flight
  const after = gpu.counts
  expect([after.buffers, after.bind_groups, after.pipelines, after.live_bytes]).toEqual([
    buffers,
    bind_groups,
    pipelines,
    live_bytes,
  ])
  trainer.destroy()
})

test('room is reserved for the numbers of a step that has next to no responses', async () => {
  const gpu = await open()
  const validation = { test_freq: 1, prompts: 1, n: 1 }
  const config = { ...only({ ...SFT, steps: 2 }), validation }
  const trainer = await Trainer.create(gpu, config)
  const { buffers, live_bytes } = gpu.counts
  while (!trainer.isFinished) await trainer.next()
  expect([gpu.counts.buffers, gpu.counts.live_bytes]).toEqual([buffers, live_bytes])
  trainer.destroy()
})

test('an evaluation asks every held-out problem once, however many prompts are wanted', async () => {
  const { test_size } = CONFIG.task
  const before = async (prompts: number) => {
    const validation = { test_freq: 1, prompts, n: 2 }
    const trainer = await Trainer.create(await open(), { ...CONFIG, validation })
    const { metrics } = await trainer.next()
    trainer.destroy()
    return Object.entries(metrics).filter(([name]) => name.startsWith('val'))
  }
  const all = await before(test_size)
  expect(all.length).toBeGreaterThan(2)
  expect(await before(3 * test_size + 1)).toEqual(all)
  expect(await before(test_size - 1)).not.toEqual(all)
})

test("validation reports verl's names: the mean, and with several responses best, worst and majority", async () => {
  const names = async (n: number) => {
    const trainer = await Trainer.create(await open(), {
      ...CONFIG,
      validation: { test_freq: 1, prompts: 10, n },
    })
    const { metrics } = await trainer.next()
    trainer.destroy()
    return { metrics, names: Object.keys(metrics).filter((name) => name.startsWith('val-')) }
  }
  expect((await names(0)).names).toEqual(['val-aux/parity/acc/greedy'])
  expect((await names(1)).names.sort()).toEqual([
    'val-aux/parity/acc/greedy',
    'val-aux/parity/reward/mean@1',
    'val-core/parity/acc/mean@1',
  ])
  const two = await names(2)
  const aux = ['std@2', 'worst@2/mean', 'worst@2/std'].map((name) => `val-aux/parity/acc/${name}`)
  const core = ['mean@2', 'best@2/mean', 'best@2/std', 'maj@2/mean', 'maj@2/std'].map(
    (name) => `val-core/parity/acc/${name}`,
  )
  expect(two.names).toEqual(expect.arrayContaining([...aux, ...core]))
  const value = (name: string) => two.metrics[`val-core/parity/acc/${name}`]
  expect(value('mean@2')).toBe(two.metrics['val-aux/parity/reward/mean@2'])
  expect(value('best@2/mean')).toBeGreaterThanOrEqual(value('mean@2'))
  // Tenths of a half: 10 prompts, 2 responses.
  expect((value('mean@2') * 20) % 1).toBeCloseTo(0, 9)
})

test('dispatches in parts train the same bits and create nothing once they are known', async () => {
  const run = async (most_ms: number | undefined) => {
    const gpu = await open()
    if (most_ms !== undefined) gpu.limitDispatches({ most_ms })
    const phases = [
      { ...SFT, steps: 1 },
      { ...RL, steps: 5 },
    ]
    const trainer = await Trainer.create(gpu, { ...CONFIG, phases })
    const results: StepResult[] = []
    const created: number[] = []
    while (!trainer.isFinished) {
      results.push(await trainer.next())
      const { buffers, bind_groups, pipelines } = gpu.counts
      created.push(buffers + bind_groups + pipelines)
    }
    const weights = await trainer.exportWeights()
    trainer.destroy()
    return { results, created, weights, is_software: gpu.facts.is_software }
  }
  const whole = await run(undefined)
  // Shorter than nearly everything on a software adapter.
  const parts = await run(0.02)
  expect(numbers(parts.results)).toEqual(numbers(whole.results))
  expect(parts.weights).toEqual(whole.weights)
  const split = parts.results.map(({ metrics }) => metrics['perf/split_dispatches'])
  const longest = parts.results.map(({ metrics }) => metrics['perf/longest_dispatch_ms'])
  // Step 0 runs nothing; a phase is measured in its first three steps, and then there is nothing new to say.
  expect(split.map((count) => count !== undefined)).toEqual([
    ...[false, true, true, true, true, false, false],
  ])
  expect(longest[4]).toBeGreaterThanOrEqual(longest[1])
  // A GPU may need less than that for everything that can be cut.
  if (parts.is_software) expect(split[4]).toBeGreaterThan(0)
  expect(new Set(parts.created.slice(-3)).size).toBe(1)
})
