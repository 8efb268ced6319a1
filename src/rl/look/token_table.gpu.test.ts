// A traced step tells what it computed of every token, and computes the same as any other.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { rowOrder } from '../math/shuffle.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { planMemory } from '../train/parts/memory.ts'
import type { StepResult } from '../train/parts/step_result.ts'
import { Trainer } from '../train/trainer.ts'
import type { TokenColumn, TokenTable, TracedSample } from './token_table.ts'

/** Four mini-batches of 8 rows, and a range so narrow that the later ones are clipped. */
const CLIPPED: RlPhase = {
  ...RL,
  steps: 2,
  rollout: { ...RL.rollout, train_batch_size: 8 },
  actor: {
    ...RL.actor,
    clip_ratio_low: 0.02,
    clip_ratio_high: 0.02,
    optim: { ...RL.actor.optim, lr: 0.02 },
  },
}

/** Everything that can be in a table: critic, reference, KL in reward and loss. */
const FULL: RlPhase = {
  ...CLIPPED,
  name: 'full',
  adv_estimator: 'gae',
  actor: { ...CLIPPED.actor, use_kl_loss: true, ppo_epochs: 2, entropy_coeff: 0.01 },
  algorithm: {
    ...RL.algorithm,
    lam: 0.9,
    use_kl_in_reward: true,
    // Rows stand in another order than they were sampled in.
    balance_batch: true,
    kl_ctrl: { ...RL.algorithm.kl_ctrl, kl_coef: 0.1 },
  },
}

const RUN: TrainerConfig = { ...CONFIG, phases: [SFT, CLIPPED, FULL] }

async function train(config: TrainerConfig, traces: boolean) {
  const gpu = await Gpu.open()
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  await trainer.prepareLater()
  expect(gpu.counts.live_bytes - before).toBe(planMemory(config).total())
  const { buffers, bind_groups, pipelines } = gpu.counts
  const results: StepResult[] = []
  const reads: number[] = []
  while (!trainer.isFinished) {
    if (traces) trainer.traceNext()
    const { reads: soFar } = gpu.counts
    results.push(await trainer.next())
    reads.push(gpu.counts.reads - soFar)
  }
  expect(gpu.counts).toMatchObject({ buffers, bind_groups, pipelines })
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, reads, weights }
}

/** All but wall times and what the trace itself costs. */
const numbers = (results: readonly StepResult[]) =>
  results.map(({ metrics, samples }) => ({
    samples,
    metrics: Object.fromEntries(
      Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
    ),
  }))

const plain = await train(RUN, false)
const traced = await train(RUN, true)

const tableOf = ({ trace }: StepResult): TokenTable => {
  if (!trace) throw new Error('the step was not traced')
  return trace
}
const column = ({ columns }: TracedSample, name: TokenColumn): readonly number[] => {
  const values = columns[name]
  if (!values) throw new Error(`there is no ${name}`)
  return values
}
const GRPO_STEPS = [4, 5]
const FULL_STEPS = [6, 7]

test('a traced run has the same bits, for one readback more in each step of reinforcement', () => {
  expect(numbers(traced.results)).toEqual(numbers(plain.results))
  expect(traced.weights).toEqual(plain.weights)
  expect(plain.results.some(({ trace }) => trace)).toBe(false)
  expect(traced.results.map(({ trace }) => trace !== undefined)).toEqual(
    traced.results.map(({ step }) => step > 3),
  )
  expect(traced.reads.map((reads, i) => reads - plain.reads[i])).toEqual(
    traced.results.map(({ step }) => (step > 3 ? 1 : 0)),
  )
})

test('a table of shuffled rows tells of each response what its own mini-batch found', async () => {
  const shuffled = { ...CLIPPED, actor: { ...CLIPPED.actor, shuffle: true } }
  const full = { ...FULL, actor: { ...FULL.actor, shuffle: true }, algorithm: RL.algorithm }
  const run = { ...CONFIG, phases: [SFT, shuffled, full] }
  const { results } = await train(run, true)
  const ratios = (sample: TracedSample) => column(sample, 'ratio')
  const moved = (sample: TracedSample) => ratios(sample).some((ratio) => ratio !== 1)
  for (const step of GRPO_STEPS) {
    const { samples } = tableOf(results[step])
    const order = rowOrder(CONFIG.seed, step, 32)(0)
    const first = order.slice(0, 8)
    for (const [row, sample] of samples.entries())
      if (first.includes(row)) expect(new Set(ratios(sample)), `row ${row}`).toEqual(new Set([1]))
    expect(samples.filter(moved).length).toBeGreaterThan(8)
    const minis = [0, 8, 16, 24].map((at) => order.slice(at, at + 8).map((row) => samples[row]))
    const shares = minis.map((rows) => {
      const clipped = rows.flatMap((sample) => column(sample, 'clipped'))
      return clipped.filter((c) => c === 1).length / clipped.length
    })
    expect(results[step].metrics['actor/pg_clipfrac']).toBeCloseTo(
      shares.reduce((a, b) => a + b, 0) / 4,
      6,
    )
  }
  for (const step of FULL_STEPS) {
    const { samples } = tableOf(results[step])
    expect(samples.every((sample) => column(sample, 'log_probs').every(Number.isFinite))).toBe(true)
  }
})

test('a table has a number for every token of every response, as they were sampled', () => {
  for (const step of [...GRPO_STEPS, ...FULL_STEPS]) {
    const { samples } = traced.results[step]
    const table = tableOf(traced.results[step])
    expect(table.samples.map(({ prompt, response }) => [prompt, response])).toEqual(
      samples.map(({ prompt, response }) => [prompt, response]),
    )
    table.samples.forEach((sample, i) => {
      expect(sample.tokens).toHaveLength(samples[i].response_length)
      for (const [name, values] of Object.entries(sample.columns)) {
        expect(values, name).toHaveLength(sample.tokens.length)
        expect(values.every(Number.isFinite), name).toBe(true)
      }
    })
  }
})

test('without critic and reference there are no values and no KL, and one advantage per response', () => {
  for (const step of GRPO_STEPS)
    for (const sample of tableOf(traced.results[step]).samples) {
      const { columns } = sample
      for (const name of ['values', 'ref_log_prob', 'reward_kl', 'kld', 'rollout_is_weights'])
        expect(name in columns, name).toBe(false)
      expect(new Set(column(sample, 'advantages')).size).toBe(1)
      expect(column(sample, 'token_level_rewards')).toEqual(column(sample, 'token_level_scores'))
    }
})

test('ratios of the first mini-batch are exactly 1, clips and KL of all add up to the step’s metrics', () => {
  let clippedTokens = 0
  let movedTokens = 0
  for (const step of GRPO_STEPS) {
    const { metrics } = traced.results[step]
    const { samples } = tableOf(traced.results[step])
    const minis = [0, 8, 16, 24].map((first) => samples.slice(first, first + 8))
    const all = (rows: readonly TracedSample[], name: TokenColumn) =>
      rows.flatMap((sample) => column(sample, name))
    expect(new Set(all(minis[0], 'ratio'))).toEqual(new Set([1]))
    movedTokens += all(samples, 'ratio').filter((ratio) => ratio !== 1).length
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
    const overMinis = (value: (rows: readonly TracedSample[]) => number) => mean(minis.map(value))
    const share = overMinis((rows) => mean(all(rows, 'clipped').map((c) => (c === 1 ? 1 : 0))))
    clippedTokens += all(samples, 'clipped').filter((c) => c > 0).length
    expect(metrics['actor/pg_clipfrac']).toBeCloseTo(share, 6)
    const kl = overMinis((rows) => -mean(all(rows, 'ratio').map(Math.log)))
    expect(metrics['actor/ppo_kl']).toBeCloseTo(kl, 5)
    // The update moved something, so that the policy after it is another one.
    expect(all(samples, 'log_probs_after')).not.toEqual(all(samples, 'log_probs'))
  }
  expect(clippedTokens).toBeGreaterThan(0)
  expect(movedTokens).toBeGreaterThan(clippedTokens)
})

test('rewards are scores less KL, returns are advantages before whitening plus values', () => {
  for (const step of FULL_STEPS) {
    const { metrics } = traced.results[step]
    const table = tableOf(traced.results[step])
    expect(table.kl_coef).toBe(metrics['actor/reward_kl_penalty_coeff'])
    const tokens = table.samples.flatMap((sample) =>
      sample.tokens.map((_, t) => ({
        reward: column(sample, 'token_level_rewards')[t],
        score: column(sample, 'token_level_scores')[t],
        kl: column(sample, 'old_log_probs')[t] - column(sample, 'ref_log_prob')[t],
        raw: column(sample, 'returns')[t] - column(sample, 'values')[t],
        advantage: column(sample, 'advantages')[t],
      })),
    )
    const { mean, std } = table.whitened ?? { mean: Number.NaN, std: Number.NaN }
    for (const { reward, score, kl, raw, advantage } of tokens) {
      expect(reward).toBeCloseTo(score - 0.1 * kl, 12)
      expect(advantage).toBeCloseTo((raw - mean) / std, 9)
    }
    // The reference is the policy that reinforcement began with.
    if (step > FULL_STEPS[0]) expect(tokens.some(({ kl }) => kl !== 0)).toBe(true)
    expect(table.updates).toBe(8)
  }
})

test('in a critic’s warm-up nothing was updated, and the table says nothing of an update', async () => {
  const phase: RlPhase = { ...FULL, steps: 1, critic: { ...FULL.critic, critic_warmup: 2 } }
  const { results } = await train({ ...CONFIG, phases: [phase] }, true)
  const table = tableOf(results[1])
  expect(table.updates).toBe(0)
  for (const { columns } of table.samples) {
    expect(columns).not.toHaveProperty('log_probs')
    expect(columns).not.toHaveProperty('ratio')
    expect(columns).toHaveProperty('values')
  }
})

test.skipIf(!process.env.LONG_TESTS)(
  'in bypass mode rejected tokens and weights are those of the update',
  async () => {
    const phase: RlPhase = {
      ...CLIPPED,
      algorithm: {
        ...RL.algorithm,
        rollout_correction: {
          ...RL.algorithm.rollout_correction,
          bypass_mode: true,
          loss_type: 'reinforce',
          rollout_is: 'token',
          rollout_rs: 'token_k2',
          rollout_rs_threshold: 1e-4,
        },
      },
    }
    const { results } = await train({ ...CONFIG, phases: [SFT, phase] }, true)
    const tables = results.slice(GRPO_STEPS[0]).map(tableOf)
    expect(tables.map(({ loss_mode }) => loss_mode)).toEqual(Array(2).fill('reinforce'))
    const samples = tables.flatMap((table) => table.samples)
    const masks = samples.flatMap((sample) => column(sample, 'response_mask'))
    expect(masks.filter((mask) => mask === 0).length).toBeGreaterThan(0)
    for (const sample of samples) {
      const ratio = column(sample, 'ratio')
      const mask = column(sample, 'response_mask')
      column(sample, 'rollout_is_weights').forEach((weight, t) => {
        if (mask[t] !== 0) expect(weight).toBeCloseTo(Math.min(2, ratio[t]), 5)
      })
      expect(sample.columns).not.toHaveProperty('clipped')
    }
  },
)

test.for(process.env.LONG_TESTS ? (['clip_cov', 'kl_cov'] as const) : (['kl_cov'] as const))(
  'the tokens that %s chose are told of',
  async (mode) => {
    const policy_loss = {
      ...CLIPPED.actor.policy_loss,
      clip_cov_ratio: 0.2,
      clip_cov_lb: -10,
      clip_cov_ub: 10,
      kl_cov_ratio: 0.2,
    }
    const actor = { ...CLIPPED.actor, loss_mode: mode, policy_loss }
    const config: TrainerConfig = { ...CONFIG, phases: [SFT, { ...CLIPPED, actor }] }
    const { results } = await train(config, true)
    expect(numbers(results)).toEqual(numbers((await train(config, false)).results))
    for (const step of GRPO_STEPS) {
      const { metrics } = results[step]
      const { samples } = tableOf(results[step])
      const shares = [0, 8, 16, 24].map((first) => {
        const rows = samples.slice(first, first + 8)
        const all = (name: TokenColumn) => rows.flatMap((sample) => column(sample, name))
        const [chosen, logProbs, advantages] = [all('chosen'), all('log_probs'), all('advantages')]
        const mean = (values: readonly number[]) =>
          values.reduce((a, b) => a + b, 0) / values.length
        const [meanLogProb, meanAdvantage] = [mean(logProbs), mean(advantages)]
        const cov = logProbs.map((p, i) => (advantages[i] - meanAdvantage) * (p - meanLogProb))
        const count = chosen.reduce((a, b) => a + b, 0)
        expect(new Set(chosen).size).toBe(2)
        if (mode === 'kl_cov') {
          expect(count).toBe(Math.max(1, Math.trunc(0.2 * chosen.length)))
          const least = Math.min(...cov.filter((_, i) => chosen[i] === 1))
          const most = Math.max(...cov.filter((_, i) => chosen[i] === 0))
          expect(least).toBeGreaterThanOrEqual(most - 1e-6)
        } else {
          // What the clip of the ratio holds is no candidate.
          const clipped = all('clipped')
          expect(chosen.some((one, i) => one === 1 && clipped[i] === 1)).toBe(false)
        }
        return count / chosen.length
      })
      const share = shares.reduce((a, b) => a + b, 0) / shares.length
      if (mode === 'clip_cov') expect(metrics['actor/pg_clipfrac']).toBeCloseTo(share, 6)
    }
  },
)

test('a loss that chooses no tokens has no such column', () => {
  for (const step of GRPO_STEPS)
    expect(tableOf(traced.results[step]).samples[0].columns).not.toHaveProperty('chosen')
})
