// Estimators and what changes a batch on the way to its update. Against float64:
// algorithms.gpu.test.ts.
import { expect, test } from 'vitest'
import { OPTIM, RL } from '../testing.ts'
import type { StepResult } from './parts/step_result.ts'
import { corrected, numbers, only, PPO, rl, rlSteps, warmStart } from './testing.ts'

const { WARM, warm } = await warmStart()

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

const imitates = { loss_mode: 'gpg' } as const
const reference = { use_kl_loss: true, sync_ref_model: true, ref_model_sync_steps: 2 }
const followed = { use_adaptive_entropy: true, entropy_target: 1, entropy_coef_max: 0.02 }
const LEARNING = [
  ['rejection_sampling', rl({ adv_estimator: 'rejection_sampling' }, {}, imitates)],
  ['best_of_n', rl({ adv_estimator: 'best_of_n' }, {}, imitates)],
  ['vespo', rl({}, {}, { loss_mode: 'vespo' })],
  [
    'luspo',
    rl({}, {}, { importance_sampling_level: 'sequence', loss_agg_mode: 'seq-mean-token-sum' }),
  ],
  ['top_entropy_quantile', rl({}, {}, { top_entropy_quantile: 0.5 })],
  ['sync_ref_model', rl({}, {}, reference)],
  ['use_adaptive_entropy', rl({}, {}, followed)],
  ['Muon', rl({}, {}, { optim: { ...OPTIM, optimizer: 'Muon' } })],
  ['mask_truncated_completions', rl({}, { mask_truncated_completions: true })],
  ['maxrl', rl({ adv_estimator: 'maxrl' })],
  ['grpo_batch_std (scale_rewards batch)', rl({ adv_estimator: 'grpo_batch_std' })],
  ['without the spread (scale_rewards none)', rl({}, { norm_adv_by_std_in_grpo: false })],
  ['token-mean (bnpo) with delta', rl({}, {}, { loss_agg_mode: 'token-mean', clip_ratio_c: 1.5 })],
  [
    'staleness, half of a batch',
    rl({ rollout: { ...RL.rollout, staleness: 1, stale_fraction: 0.5 } }),
  ],
] as const
// float64/algorithms.gpu.test.ts holds each step of them to float64.
test.skipIf(!process.env.LONG_TESTS).for(LEARNING)(
  '%s: the right answers become more',
  async ([, phase]) => {
    const { results } = await warm(only({ ...phase, steps: 90 }))
    const scores = rlSteps(results).map(({ metrics }) => metrics['critic/score/mean'])
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
    expect(mean(scores.slice(-20)) - mean(scores.slice(0, 20))).toBeGreaterThan(0.2)
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

test('shuffle_scores moves advantages between the responses to a prompt, and says the real scores', async () => {
  const [plain, shuffled] = [
    await warm(only(rl({ steps: 1 }))),
    await warm(only(rl({ steps: 1 }, { shuffle_scores: true }))),
  ]
  const [a, b] = [plain.results[1].samples, shuffled.results[1].samples]
  expect(b.map(({ score }) => score)).toEqual(a.map(({ score }) => score))
  const advantages = (samples: typeof a) => samples.map(({ advantage }) => advantage.toFixed(5))
  expect(advantages(b)).not.toEqual(advantages(a))
  const n = 4
  for (let row = 0; row < a.length; row += n) {
    const [mine, its] = [a, b].map((samples) =>
      advantages(samples)
        .slice(row, row + n)
        .sort(),
    )
    expect(its).toEqual(mine)
  }
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

test.for(['gae', 'reinforce_plus_plus'] as const)(
  '%s: a batch of one token has no spread to be divided by, trains nothing, and the run continues',
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
