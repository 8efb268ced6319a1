// Compares what is shown beside a traced token with what the step really did. Every line is right
// on a calculator, every column agrees with its line, and the losses of all tokens add up to the
// number that the GPU minimised.
import { expect, test } from 'vitest'
import { type FilledFormula, tokenFormulas } from '../document/formulas/formulas.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import type { Algorithm } from '../rl/config/algorithm.ts'
import type { RlPhase } from '../rl/config/phase.ts'
import type { TrainerConfig } from '../rl/config/trainer_config.ts'
import type { TokenColumn, TokenTable, TracedSample } from '../rl/look/token_table.ts'
import { type LossMode, pgAggMode } from '../rl/losses/losses.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../rl/testing.ts'
import type { StepResult } from '../rl/train/parts/step_result.ts'
import { Trainer } from '../rl/train/trainer.ts'
import { evaluated } from './calculator/testing.ts'

interface Change {
  readonly phase?: Partial<RlPhase>
  readonly actor?: Partial<RlPhase['actor']>
  readonly algorithm?: Partial<Algorithm>
}

/** Two mini-batches of 8 rows and a rate that moves ratios out of the range in the second. */
const phaseOf = ({ phase = {}, actor = {}, algorithm = {} }: Change): RlPhase => ({
  ...RL,
  steps: 2,
  ...phase,
  actor: {
    ...RL.actor,
    clip_ratio_low: 0.05,
    clip_ratio_high: 0.08,
    clip_ratio_c: 1.1,
    optim: { ...RL.actor.optim, lr: 0.02 },
    ...actor,
  },
  algorithm: { ...RL.algorithm, ...algorithm },
})

const bypass = (change: Partial<Algorithm['rollout_correction']>): Partial<Algorithm> => ({
  rollout_correction: { ...RL.algorithm.rollout_correction, bypass_mode: true, ...change },
})
const policy_loss = {
  ...RL.actor.policy_loss,
  clip_cov_ratio: 0.2,
  clip_cov_lb: -10,
  clip_cov_ub: 10,
  kl_cov_ratio: 0.2,
  ppo_kl_coef: 1,
}
const adaptive = { type: 'adaptive', kl_coef: 0.1, horizon: 100, target_kl: 0.01 } as const

const OBJECTIVES: Readonly<Record<string, Change>> = {
  'GRPO, vanilla': {},
  'PPO with a critic': {
    phase: { adv_estimator: 'gae' },
    algorithm: { gamma: 0.95, lam: 0.9 },
  },
  'an inner layer': { phase: { target_layer: 2 } },
  'Dr. GRPO': { algorithm: { norm_adv_by_std_in_grpo: false } },
  maxrl: { phase: { adv_estimator: 'maxrl' } },
  best_of_n: { phase: { adv_estimator: 'best_of_n' }, actor: { loss_mode: 'gpg' } },
  grpo_batch_std: { phase: { adv_estimator: 'grpo_batch_std' } },
  gspo: { actor: { loss_mode: 'gspo' } },
  geo_mean: { actor: { loss_mode: 'geo_mean' } },
  cispo: { actor: { loss_mode: 'cispo' } },
  'a ratio of the whole response': { actor: { importance_sampling_level: 'sequence' } },
  sapo: { actor: { loss_mode: 'sapo' } },
  vespo: { actor: { loss_mode: 'vespo' } },
  clip_cov: { actor: { loss_mode: 'clip_cov', policy_loss } },
  kl_cov: { actor: { loss_mode: 'kl_cov', policy_loss } },
  gpg: { phase: { adv_estimator: 'gpg' }, actor: { loss_mode: 'gpg' } },
  'bypass, reinforce': {
    algorithm: bypass({ loss_type: 'reinforce', rollout_is: 'token', rollout_is_threshold: 1.05 }),
  },
  'bypass, ppo_clip, rejecting': {
    algorithm: bypass({ rollout_rs: 'token_k2', rollout_rs_threshold: 1e-4 }),
  },
  'decoupled, weights per response': {
    algorithm: {
      rollout_correction: { ...RL.algorithm.rollout_correction, rollout_is: 'sequence' },
    },
  },
  'adaptive KL in the reward, KL in the loss, entropy, critic': {
    phase: { adv_estimator: 'gae' },
    actor: {
      use_kl_loss: true,
      kl_loss_coef: 0.2,
      kl_loss_type: 'low_var_kl',
      entropy_coeff: 0.01,
    },
    algorithm: { use_kl_in_reward: true, kl_penalty: 'kl', kl_ctrl: adaptive },
  },
  'KL of the whole response at its last token': {
    phase: { adv_estimator: 'gae' },
    algorithm: { use_kl_in_reward: true, kl_at_last_token: true, kl_ctrl: adaptive, lam: 0.9 },
  },
  'scored by a reward model': {
    phase: { adv_estimator: 'rloo', reward_model: { enable: true } },
    algorithm: { use_kl_in_reward: true, kl_ctrl: { ...adaptive, type: 'fixed' } },
  },
}

/** The steps of reinforcement, each traced. */
async function trace(phase: RlPhase): Promise<StepResult[]> {
  const teaches = phase.reward_model.enable ? [{ ...REWARD_MODEL, steps: 1 }] : []
  const config: TrainerConfig = { ...CONFIG, phases: [SFT, ...teaches, phase] }
  const trainer = await Trainer.create(await Gpu.open(), config)
  const results: StepResult[] = []
  while (!trainer.isFinished) {
    trainer.traceNext()
    results.push(await trainer.next())
  }
  trainer.destroy()
  return results.filter(({ trace }) => trace)
}

const tableOf = ({ trace }: StepResult): TokenTable => {
  if (!trace) throw new Error('the step was not traced')
  return trace
}
const cell = ({ columns }: TracedSample, name: TokenColumn, t: number): number =>
  columns[name]?.[t] ?? Number.NaN

/** Numbers have five digits in a line, and what they are divided by may be small. */
function expectRight({ lines }: FilledFormula): void {
  for (const { numbers, value } of lines) {
    const size = Math.max(1, ...Array.from(numbers.matchAll(/[\d.]+/g), ([n]) => Number(n)))
    expect(Math.abs(evaluated(numbers) - value), numbers).toBeLessThan(5e-4 * size * size)
  }
}

const valueIn = (part: FilledFormula | undefined, names: readonly string[]): number =>
  part?.lines.findLast(({ result }) => names.includes(result))?.value ?? Number.NaN
const LOSSES = ['loss', 'plain_loss', 'heavy_loss', 'no_loss', 'weighted_loss']

/** Loss of every token; undefined for one that does not count. */
type RowLosses = readonly (number | undefined)[]

/** verl's agg_loss of a mini-batch. */
function aggregate(lossMode: LossMode, rows: readonly RowLosses[]): number {
  const counted = rows
    .map((row) => row.filter((loss) => loss !== undefined))
    .filter(({ length }) => length > 0)
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const ofSequences = pgAggMode(lossMode, 'token-mean') === 'seq-mean-token-mean'
  return ofSequences || lossMode === 'geo_mean' ? mean(counted.map(mean)) : mean(counted.flat())
}

/** Where LONG_TESTS is not set: kinds of lines that tell the others apart. */
const SHORT = [
  'GRPO, vanilla',
  'gspo',
  'clip_cov',
  'bypass, ppo_clip, rejecting',
  'adaptive KL in the reward, KL in the loss, entropy, critic',
]

test.for(process.env.LONG_TESTS ? Object.keys(OBJECTIVES) : SHORT)(
  '%s: the lines beside a token are what the step computed',
  async (name) => {
    const results = await trace(phaseOf(OBJECTIVES[name]))
    expect(results).toHaveLength(2)
    let moved = 0
    for (const result of results) {
      const table = tableOf(result)
      const losses = table.samples.map((sample) =>
        sample.tokens.map((_, t) => {
          const parts = tokenFormulas({ table, sample, t })
          parts.forEach(expectRight)
          const part = (which: FilledFormula['part']) => parts.find((one) => one.part === which)
          const { algorithm, actor } = table.phase
          if (algorithm.use_kl_in_reward)
            expect(valueIn(part('reward'), ['reward'])).toBe(cell(sample, 'token_level_rewards', t))
          const advantage = cell(sample, 'advantages', t)
          const isCounted = cell(sample, 'response_mask', t) !== 0
          if (isCounted) expect(part('advantage')?.lines.at(-1)?.value).toBeCloseTo(advantage, 6)
          if (cell(sample, 'ratio', t) !== 1) moved++
          const loss = part('loss')
          expect(loss !== undefined).toBe(isCounted)
          if (!loss) return undefined
          if (actor.use_kl_loss || actor.entropy_coeff !== 0)
            expect(valueIn(loss, ['total'])).toBeCloseTo(
              valueIn(loss, LOSSES) -
                actor.entropy_coeff * cell(sample, 'entropy', t) +
                (actor.use_kl_loss ? actor.kl_loss_coef * cell(sample, 'kld', t) : 0),
              12,
            )
          return valueIn(loss, LOSSES)
        }),
      )
      const minis = [0, 8].map((first) => losses.slice(first, first + 8))
      const sum = minis.reduce((all, rows) => all + aggregate(table.loss_mode, rows), 0)
      // The losses of a step cancel each other: float32 against the size of what is summed.
      expect(Math.abs(result.metrics['actor/pg_loss'] - sum), 'actor/pg_loss').toBeLessThan(2e-5)
    }
    expect(moved).toBeGreaterThan(20)
  },
)
