// Every estimator, loss, mean, KL and mode in the real trainer: two steps on a tiny model, and every number that the trainer
// reports is that of the same steps in float64, computed from the responses that it sampled.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { Tensor } from '../../kernels/device/tensor.ts'
import { KL_PENALTIES } from '../../kernels/kl/kl_penalty.ts'
import { LOSS_AGG_MODES, LOSS_MODES } from '../../kernels/policy_loss/loss_modes.ts'
import { RS_CRITERIA } from '../../kernels/rollout_correction/rollout_correction.ts'
import { randomValues } from '../../kernels/testing.ts'
import { modelShape } from '../../model/params/config.ts'
import { initialWeights, paramLayout, sharedRuns } from '../../model/params/params.ts'
import { tokenizer } from '../../tasks/tokenizer.ts'
import type { Actor as ActorSettings, Algorithm, RlPhase } from '../config/phase.ts'
import { ADV_ESTIMATORS } from '../estimators/advantages.ts'
import { makeBatch, padPrompts } from '../experience/batch.ts'
import type { RolloutCorrection } from '../experience/rollout_correction.ts'
import { balanceBatch } from '../math/balance.ts'
import { rowOrder } from '../math/shuffle.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { Learner } from './learner.ref.ts'
import { type RecordedStep, type RefRun, stepRef } from './step.ref.ts'
import { type StepResult, Trainer, type TrainerConfig } from './trainer.ts'

const gpu = await Gpu.open()
const { max_prompt_length: P, max_response_length: R } = CONFIG.task
const B = 16
const ROLLOUT_LOG_PROBS = 'rollout.log_probs'
const STEPS = 2

/** A rate at which ratios leave the clip range within a step; two mini-batches. */
const BASE: RlPhase = {
  ...RL,
  steps: STEPS,
  actor: { ...RL.actor, optim: { ...RL.actor.optim, lr: 0.01, weight_decay: 0.01 } },
  critic: { ...RL.critic, cliprange_value: 0.05, optim: { ...RL.critic.optim, lr: 0.005 } },
}
const phaseOf = (
  change: Partial<RlPhase> = {},
  actor: Partial<ActorSettings> = {},
  algorithm: Partial<Algorithm> = {},
): RlPhase => ({
  ...BASE,
  ...change,
  actor: { ...BASE.actor, ...actor },
  algorithm: { ...BASE.algorithm, ...algorithm },
})
const corrected = (change: Partial<RolloutCorrection>): Partial<Algorithm> => ({
  rollout_correction: { ...BASE.algorithm.rollout_correction, ...change },
})

const only = (...phases: TrainerConfig['phases']): TrainerConfig => ({
  ...CONFIG,
  phases,
  probe: { freq: 0, rows: 8 },
})

/** Weights whose responses are right now and then, and of different lengths. */
const start = await Trainer.create(
  gpu,
  only({ ...SFT, steps: 18, optim: { ...SFT.optim, lr: 0.015 } }),
)
while (!start.isFinished) await start.next()
const WARM = await start.exportWeights()

/** A critic as it begins: the policy's transformer under its first score. */
function firstCritic(): Learner {
  const critic = new Learner(
    CONFIG.model,
    'value_head',
    initialWeights(paramLayout(modelShape(CONFIG.model), 'value_head'), CONFIG.seed),
  )
  const from = paramLayout(modelShape(CONFIG.model))
  for (const { from_offset, to_offset, count } of sharedRuns(from, critic.layout))
    critic.state.weights.set(WARM.subarray(from_offset, from_offset + count), to_offset)
  return critic
}

afterEach(() => {
  vi.restoreAllMocks()
})

const ended = (ids: Uint32Array) => ids.includes(tokenizer.eos_token_id)
const scoreOf = (prompt: string, ids: Uint32Array) =>
  ended(ids) ? CONFIG.task.score(prompt, tokenizer.decode(ids)) : 0
/** DAPO's soft penalty, of R = 3 tokens. */
const penalty = (length: number, { overlong_buffer: buffer }: Algorithm) =>
  buffer ? Math.min(0, ((R - buffer.len - length) / buffer.len) * buffer.penalty_factor) : 0

/** The step's batch as it was trained on, from what was reported and what the tokenizer was shown meanwhile. */
function recorded(
  phase: RlPhase,
  { samples, step }: StepResult,
  shown: readonly Uint32Array[],
  rollout_log_probs: Float32Array | undefined,
): RecordedStep {
  const { n } = phase.rollout
  const lengths = samples.map((s) => s.response_length + tokenizer.encode(s.prompt).length)
  const order = phase.algorithm.balance_batch
    ? balanceBatch(lengths).flat()
    : samples.map((_, b) => b)
  const prompts = order.map((row) => samples[row].prompt)
  const ids = shown.slice(-B)
  const batch = makeBatch(
    padPrompts(
      prompts.map((prompt) => tokenizer.encode(prompt)),
      P,
      tokenizer.pad_token_id,
    ),
    Uint32Array.from(ids.flatMap((row) => [...row])),
    { rows: B, prompt_length: P, response_length: R },
    tokenizer.eos_token_id,
  )
  const total = (prompt: string, row: Uint32Array) => {
    const length = ended(row) ? row.indexOf(tokenizer.eos_token_id) + 1 : R
    return scoreOf(prompt, row) + penalty(length, phase.algorithm)
  }
  const token_level_scores = new Float64Array(B * R)
  ids.forEach((row, b) => {
    token_level_scores[b * R + batch.response_lengths[b] - 1] = total(prompts[b], row)
  })
  // ReMax's greedy responses were shown first, in the order of drawing.
  const greedy = samples.map(({ prompt }, b) => total(prompt, shown[b]))
  const log_probs =
    rollout_log_probs &&
    Float64Array.from({ length: B * R }, (_, i) => {
      const row = order[Math.floor(i / R)]
      return rollout_log_probs[row * R + (i % R)]
    })
  return {
    ...{ batch, token_level_scores, step },
    ...(phase.actor.shuffle && { order: rowOrder(CONFIG.seed, step, B) }),
    index: order.map((row) => Math.floor(row / n)),
    ...(phase.adv_estimator === 'remax' && {
      reward_baselines: order.map((row) => greedy[row]),
    }),
    ...(log_probs && { rollout_log_probs: log_probs }),
  }
}

/** Dynamic sampling: every batch was shown as it was drawn, then the one that was made of them. */
function drawMetrics({ algorithm, rollout }: RlPhase, shown: readonly Uint32Array[]) {
  if (!algorithm.filter_groups.enable) return {}
  const drawn = shown.slice(0, -B).map((ids) => scoreOf('', ids))
  const groups = Array.from({ length: drawn.length / rollout.n }, (_, g) =>
    drawn.slice(g * rollout.n, (g + 1) * rollout.n),
  )
  return {
    'train/num_gen_batches': drawn.length / B,
    'group/informative_drawn': mean(groups.map((group) => (new Set(group).size > 1 ? 1 : 0))),
  }
}

/** Told by other tests (times, work, layers), or of the whole run. */
const ELSEWHERE = /^(timing_|perf\/|layer\/|training\/(global_step|skipped_updates_total)$)/
const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length

/** Numbers of the samples themselves. */
function sampleMetrics(phase: RlPhase, { samples }: StepResult): Record<string, number> {
  const { n } = phase.rollout
  const groups = Array.from({ length: B / n }, (_, g) => samples.slice(g * n, (g + 1) * n))
  const total = (s: StepResult['samples'][number]) =>
    s.score + penalty(s.response_length, phase.algorithm)
  return {
    'task/score/mean': mean(samples.map((s) => s.score)),
    'group/informative': mean(
      groups.map((group) => (group.some((s) => total(s) !== total(group[0])) ? 1 : 0)),
    ),
    'response/not_ended_ratio': mean(samples.map((s) => (s.is_ended ? 0 : 1))),
  }
}

interface Followed {
  readonly seen: Record<string, number>[]
  readonly truth: Record<string, number>[]
}

/** The phase with the rates of step `step` (from 1) of `total`, where it warms up over a share of them. */
function warmed(phase: RlPhase, step: number, total: number): RlPhase {
  const rate = <P extends { readonly optim: RlPhase['actor']['optim'] }>(of: P): P => {
    const { lr, lr_warmup_steps, lr_warmup_steps_ratio = 0 } = of.optim
    if (lr_warmup_steps >= 0) return of
    const share = Math.min(1, (step - 1) / Math.trunc(lr_warmup_steps_ratio * total))
    return { ...of, optim: { ...of.optim, lr: lr * share } }
  }
  return { ...phase, actor: rate(phase.actor), critic: rate(phase.critic) }
}

/** Trains and computes the same in float64; compares every metric of every step and, at the end, every weight. */
const follow = (phase: RlPhase, noise = 0): Promise<Followed> => followAll([phase], noise)

/** The same of several phases, one after the other. */
async function followAll(phases: readonly RlPhase[], noise = 0): Promise<Followed> {
  const shown: Uint32Array[] = []
  const decode = (ids: ArrayLike<number>) => {
    shown.push(Uint32Array.from(ids))
    return tokenizer.decode(ids)
  }
  const trainer = await Trainer.create(gpu, {
    ...only(...phases),
    tokenizer: { ...tokenizer, decode },
  })
  trainer.importWeights(WARM)
  await trainer.next()
  const run: RefRun = {
    config: CONFIG.model,
    actor: new Learner(CONFIG.model, 'lm_head', WARM),
    ...(phases[0].adv_estimator === 'gae' && { critic: firstCritic() }),
    reference: Float64Array.from(WARM),
    kl_coef: phases[0].algorithm.kl_ctrl.kl_coef,
    critic_steps: 0,
  }
  const rolloutLogProbs = noise === 0 ? () => undefined : otherPolicy(noise)
  const followed: Followed = { seen: [], truth: [] }
  const total = STEPS * phases.length
  for (let step = 1; step <= total; step++) {
    const phase = phases[Math.ceil(step / STEPS) - 1]
    shown.length = 0
    const result = await trainer.next()
    const truth = {
      ...stepRef(
        run,
        warmed(phase, step, total),
        recorded(phase, result, shown, rolloutLogProbs()),
      ),
      ...sampleMetrics(phase, result),
      ...drawMetrics(phase, shown),
    }
    const seen = Object.fromEntries(
      Object.entries(result.metrics).filter(([name]) => !ELSEWHERE.test(name)),
    )
    expect(Object.keys(seen).sort()).toEqual(Object.keys(truth).sort())
    for (const [name, x] of Object.entries(truth)) {
      // f32 through four updates of a size that does not shrink with the gradient; a norm is a sum of 10,000 squares.
      const bound = 3e-5 + (name.endsWith('grad_norm') ? 2e-3 : 2e-4) * Math.abs(x)
      expect(Math.abs(seen[name] - x), `step ${step} ${name}: ${seen[name]}, ${x}`).toBeLessThan(
        bound,
      )
    }
    followed.seen.push(seen)
    followed.truth.push(truth)
  }
  const weights = await trainer.exportWeights()
  const { state } = run.actor
  const moved = Math.hypot(...state.weights.map((w, i) => w - WARM[i]))
  const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
  expect(moved).toBeGreaterThan(0.05)
  expect(error / moved).toBeLessThan(1e-3)
  return followed
}

/**
 * Makes the responses those of another policy: the log-probs that the trainer reads back of the rollout are others than the
 * rollout's, by up to `noise`. Returns them as they were read last.
 */
function otherPolicy(noise: number): () => Float32Array | undefined {
  const real = gpu.read.bind(gpu)
  let last: Float32Array | undefined
  const read = async (...tensors: readonly Tensor[]) => {
    const arrays: ArrayLike<number>[] = await real(...tensors)
    return arrays.map((values, place) => {
      if (tensors[place].label !== ROLLOUT_LOG_PROBS) return values
      const moves = randomValues(values.length, 5)
      last = Float32Array.from(values, (x, i) => x + noise * moves[i])
      return last
    })
  }
  vi.spyOn(gpu, 'read').mockImplementation(read as typeof gpu.read)
  return () => last
}

const changes = ({ truth }: Followed, name: string) => truth.map((metrics) => metrics[name])

describe('advantage estimators', () => {
  test.for(ADV_ESTIMATORS)('%s', async (adv_estimator) => {
    // Penalties for length make many scores of two.
    const overlong_buffer = { len: 2, penalty_factor: 0.5 }
    const { truth } = await follow(phaseOf({ adv_estimator }, {}, { overlong_buffer }))
    for (const metrics of truth) {
      expect(metrics['critic/advantages/max']).toBeGreaterThan(metrics['critic/advantages/min'])
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    }
  })
})

describe('policy losses', () => {
  const policy_loss = {
    clip_cov_ratio: 0.2,
    clip_cov_lb: -10,
    clip_cov_ub: 10,
    kl_cov_ratio: 0.2,
    ppo_kl_coef: 1,
  }
  test.for(LOSS_MODES)('%s', async (loss_mode) => {
    const ranges = { clip_ratio_low: 0.05, clip_ratio_high: 0.08, clip_ratio_c: 1.2 }
    const followed = await follow(phaseOf({}, { loss_mode, policy_loss, ppo_epochs: 2, ...ranges }))
    if (followed.truth[0]['actor/pg_clipfrac'] !== undefined && loss_mode !== 'sapo')
      expect(Math.max(...changes(followed, 'actor/pg_clipfrac'))).toBeGreaterThan(0)
  })
  test('dual clip', async () => {
    const actor = { ppo_epochs: 4, clip_ratio_c: 1.05 }
    const followed = await follow(phaseOf({}, actor))
    expect(Math.max(...changes(followed, 'actor/pg_clipfrac_lower'))).toBeGreaterThan(0)
  })
})

describe('means over tokens', () => {
  test.for(LOSS_AGG_MODES)('%s, of actor and critic', async (loss_agg_mode) => {
    const critic = { ...BASE.critic, loss_agg_mode }
    const actor = { loss_agg_mode, entropy_coeff: 0.05, use_kl_loss: true, kl_loss_coef: 0.5 }
    await follow(phaseOf({ adv_estimator: 'gae', critic }, actor, { lam: 0.9, gamma: 0.97 }))
  })
  test('token sums over a constant that is given', async () => {
    const norm = { loss_agg_mode: 'seq-mean-token-sum-norm', loss_scale_factor: 7 } as const
    const [given, own] = [
      await follow(phaseOf({}, norm)),
      await follow(phaseOf({}, { ...norm, loss_scale_factor: null })),
    ]
    const [a, b] = [given, own].map((followed) => changes(followed, 'actor/pg_loss')[0])
    expect(a / b).toBeCloseTo(R / 7, 3)
  })
})

describe('PPO', () => {
  const gae = { adv_estimator: 'gae' } as const
  test('three epochs of four mini-batches, with single responses', async () => {
    const rollout = { ...BASE.rollout, train_batch_size: B, n: 1 }
    const actor = { ppo_epochs: 3, ppo_mini_batch_size: 4 }
    const followed = await follow(phaseOf({ ...gae, rollout }, actor, { gamma: 0.9, lam: 0.8 }))
    for (const name of ['critic/vf_clipfrac', 'actor/pg_clipfrac'])
      expect(Math.max(...changes(followed, name)), name).toBeGreaterThan(0)
    expect(changes(followed, 'critic/vf_explained_var')[0]).toBeLessThan(1)
  })
  test('epochs and mini-batches of the critic’s own', async () => {
    const critic = { ...BASE.critic, ppo_epochs: 3, ppo_mini_batch_size: 1 }
    const own = await follow(phaseOf({ ...gae, critic }))
    const shared = await follow(phaseOf(gae))
    expect(changes(own, 'critic/vf_loss')[0]).not.toBeCloseTo(changes(shared, 'critic/vf_loss')[0])
    // The actor's first step does not know of it.
    expect(changes(own, 'actor/grad_norm')[0]).toBe(changes(shared, 'actor/grad_norm')[0])
  })
  test('a warm-up over a share of the steps of both phases, of critic and actor', async () => {
    const warm = (lr: number, lr_warmup_steps_ratio: number) => ({
      ...BASE.actor.optim,
      ...{ lr, lr_warmup_steps: -1, lr_warmup_steps_ratio },
    })
    const critic = { ...BASE.critic, optim: warm(0.005, 0.99) }
    const phase = phaseOf({ ...gae, critic }, { optim: warm(0.02, 0.5) })
    const { truth } = await followAll([phase, phase])
    expect(truth.map((metrics) => metrics['actor/lr'])).toEqual([0, 0.01, 0.02, 0.02])
    expect(truth[3]['critic/lr']).toBe(0.005)
    expect(truth[1]['critic/lr']).toBeCloseTo(0.005 / 3, 12)
  })
  test('a mini-batch of the critic that is no multiple of the actor’s', async () => {
    const rollout = { ...BASE.rollout, train_batch_size: 8, n: 2 }
    const critic = { ...BASE.critic, ppo_mini_batch_size: 4 }
    await follow(phaseOf({ ...gae, rollout, critic }, { ppo_mini_batch_size: 8 }))
  })
  test('a step of the critic alone', async () => {
    const critic = { ...BASE.critic, critic_warmup: 2 }
    const { truth } = await follow(phaseOf({ ...gae, critic }))
    expect(truth.map((metrics) => 'actor/pg_loss' in metrics)).toEqual([false, true])
  })
})

describe('KL to the reference', () => {
  test.for(KL_PENALTIES)('%s in the loss', async (kl_loss_type) => {
    const kl = { use_kl_loss: true, kl_loss_coef: 0.5, kl_loss_type }
    const followed = await follow(phaseOf({}, kl))
    expect(Math.abs(changes(followed, 'actor/kl_loss')[1])).toBeGreaterThan(1e-3)
  })
  test.for(KL_PENALTIES)('%s in the reward', async (kl_penalty) => {
    const kl_ctrl = { ...BASE.algorithm.kl_ctrl, kl_coef: 0.3 }
    const followed = await follow(phaseOf({}, {}, { use_kl_in_reward: true, kl_penalty, kl_ctrl }))
    expect(Math.abs(changes(followed, 'actor/reward_kl_penalty')[1])).toBeGreaterThan(1e-3)
    expect(changes(followed, 'actor/reward_kl_penalty_coeff')).toEqual([0.3, 0.3])
  })
  test.for(['gae', 'reinforce_plus_plus', 'grpo'] as const)(
    'of the whole response at its last token, by %s',
    async (adv_estimator) => {
      const kl_ctrl = { ...BASE.algorithm.kl_ctrl, kl_coef: 0.3 }
      const kl = { use_kl_in_reward: true, kl_ctrl, gamma: 0.9, lam: 0.8 }
      const first = await follow(phaseOf({ adv_estimator }, {}, { ...kl, kl_at_last_token: true }))
      const each = await follow(phaseOf({ adv_estimator }, {}, kl))
      const [a, b] = [first, each].map((followed) => changes(followed, 'critic/advantages/max')[1])
      // Where a response has one reward, it does not matter where that stands.
      if (adv_estimator === 'grpo') expect(a).toBeCloseTo(b, 3)
      else expect(Math.abs(a - b)).toBeGreaterThan(1e-3)
    },
  )
  test('in both places, with a coefficient that follows it and a critic', async () => {
    const kl_ctrl = { type: 'adaptive', kl_coef: 0.3, target_kl: 0.05, horizon: 50 } as const
    const algorithm = { use_kl_in_reward: true, kl_penalty: 'k2', kl_ctrl } as const
    const followed = await follow(
      phaseOf({ adv_estimator: 'gae' }, { use_kl_loss: true }, algorithm),
    )
    expect(changes(followed, 'actor/reward_kl_penalty_coeff')[1]).toBeLessThan(0.3)
  })
})

describe('rollout correction, decoupled', () => {
  test.for([
    ['token', false],
    ['token', true],
    ['sequence', false],
    ['sequence', true],
  ] as const)(
    'weights per %s, normalised: %s',
    async ([rollout_is, rollout_is_batch_normalize]) => {
      const weights = { rollout_is, rollout_is_threshold: 1.2, rollout_is_batch_normalize }
      const followed = await follow(phaseOf({}, {}, corrected(weights)), 0.4)
      expect(changes(followed, 'rollout_corr/rollout_is_max')[0]).toBeGreaterThan(1.2)
      expect(changes(followed, 'rollout_corr/rollout_is_min')[0]).toBeLessThan(0.9)
    },
  )
  test('nothing but numbers', async () => {
    const rollout = { ...BASE.rollout, calculate_log_probs: true }
    const [told, plain] = [await follow(phaseOf({ rollout }), 0.4), await follow(phaseOf())]
    expect(changes(told, 'rollout_corr/chi2_token')[0]).toBeGreaterThan(0.01)
    expect(changes(told, 'training/rollout_probs_diff_max')[0]).toBeGreaterThan(0.05)
    expect(changes(told, 'actor/grad_norm')).toEqual(changes(plain, 'actor/grad_norm'))
  })
  test.for(RS_CRITERIA)('rejection by %s', async (rollout_rs) => {
    const rollout_rs_threshold = rollout_rs.endsWith('k1') ? '0.9_1.2' : '0.02'
    const followed = await follow(
      phaseOf({}, {}, corrected({ rollout_rs, rollout_rs_threshold })),
      0.4,
    )
    for (const share of changes(followed, 'rollout_corr/rollout_rs_masked_fraction')) {
      expect(share).toBeGreaterThan(0.05)
      expect(share).toBeLessThan(0.95)
    }
  })
  test('weights and two criteria at once, with values and a KL in the reward', async () => {
    const both = corrected({
      rollout_is: 'sequence',
      rollout_rs: 'token_k1,seq_max_k2',
      rollout_rs_threshold: '0.8_1.3,0.06',
    })
    const algorithm = { ...both, use_kl_in_reward: true }
    await follow(phaseOf({ adv_estimator: 'gae' }, { ppo_epochs: 2 }, algorithm), 0.4)
  })
  test.for(['optimal_token_baseline', 'tir_optimal_token_baseline'] as const)(
    'weights in the baseline of %s',
    async (adv_estimator) => {
      await follow(phaseOf({ adv_estimator }, {}, corrected({ rollout_is: 'token' })), 0.4)
    },
  )
})

describe('rollout correction, bypass', () => {
  const two = { ppo_epochs: 2 }
  test.for([
    ['ppo_clip', null, null],
    ['ppo_clip', null, 'token_k1'],
    ['reinforce', null, null],
    ['reinforce', 'token', null],
    ['reinforce', 'sequence', 'seq_mean_k1'],
    ['reinforce', 'token', 'token_k1,seq_max_k3'],
  ] as const)('%s, weights %s, rejection %s', async ([loss_type, rollout_is, rollout_rs]) => {
    const followed = await follow(
      phaseOf(
        {},
        two,
        corrected({
          bypass_mode: true,
          loss_type,
          rollout_is,
          rollout_is_threshold: 1.05,
          rollout_is_batch_normalize: rollout_rs !== null && rollout_is !== null,
          rollout_rs,
          rollout_rs_threshold: rollout_rs?.includes(',')
            ? '0.95_1.05,0.001'
            : rollout_rs && '0.95_1.05',
        }),
      ),
    )
    const rejected = changes(followed, 'rollout_corr/rollout_rs_masked_fraction')
    if (rollout_rs) expect(Math.max(...rejected)).toBeGreaterThan(0)
    if (rollout_is) {
      const weights = changes(followed, 'rollout_corr/rollout_is_mean')
      expect(Math.max(...weights.map((w) => Math.abs(w - 1)))).toBeGreaterThan(1e-3)
    }
  })
  test('with a critic, a KL in the loss and an entropy bonus', async () => {
    const actor = { ...two, use_kl_loss: true, kl_loss_coef: 0.3, entropy_coeff: 0.05 }
    await follow(phaseOf({ adv_estimator: 'gae' }, actor, corrected({ bypass_mode: true })))
  })
})

describe('DAPO', () => {
  const overlong_buffer = { len: 2, penalty_factor: 0.5 }
  const filter_groups = { enable: true, metric: 'acc', max_num_gen_batches: 10 } as const
  const parts: readonly (readonly [string, Partial<ActorSettings>, Partial<Algorithm>])[] = [
    ['clip-higher', { clip_ratio_low: 0.03, clip_ratio_high: 0.06, ppo_epochs: 2 }, {}],
    ['the penalty for length', {}, { overlong_buffer }],
    ['dynamic sampling', {}, { filter_groups }],
    ['all of it', { clip_ratio_high: 0.28, ppo_epochs: 2 }, { overlong_buffer, filter_groups }],
  ]
  test.for(parts)('%s', async ([, actor, algorithm]) => {
    const followed = await follow(phaseOf({}, actor, algorithm))
    if (actor.clip_ratio_high)
      expect(Math.max(...changes(followed, 'actor/pg_clipfrac'))).toBeGreaterThan(0)
    if (algorithm.filter_groups) {
      expect(Math.max(...changes(followed, 'train/num_gen_batches'))).toBeGreaterThan(1)
      expect(changes(followed, 'group/informative')).toEqual([1, 1])
    }
    if (algorithm.overlong_buffer)
      expect(Math.min(...changes(followed, 'critic/score/min'))).toBeLessThan(0)
  })
})

describe('shuffled rows', () => {
  const shuffled = { shuffle: true, ppo_epochs: 2 }
  test('mini-batches of other rows in every epoch', async () => {
    const [mixed, plain] = [
      await follow(phaseOf({}, { ...shuffled, loss_mode: 'gspo' })),
      await follow(phaseOf({}, { ppo_epochs: 2, loss_mode: 'gspo' })),
    ]
    // Both found the same responses; the first mini-batch is another one.
    expect(changes(mixed, 'critic/score/mean')[0]).toBe(changes(plain, 'critic/score/mean')[0])
    const [a, b] = [mixed, plain].map((followed) => changes(followed, 'actor/grad_norm')[0])
    expect(Math.abs(a / b - 1)).toBeGreaterThan(1e-3)
  })
  test('of the critic too, with a KL in both places, weights and tokens that are taken out', async () => {
    const critic = { ...BASE.critic, ppo_epochs: 3, ppo_mini_batch_size: 1 }
    const algorithm = {
      ...corrected({ rollout_is: 'token', rollout_rs: 'token_k2', rollout_rs_threshold: '0.02' }),
      use_kl_in_reward: true,
      balance_batch: true,
    }
    const actor = { ...shuffled, use_kl_loss: true, kl_loss_coef: 0.3 }
    await follow(phaseOf({ adv_estimator: 'gae', critic }, actor, algorithm), 0.4)
  })
  test('in bypass mode, and where a loss chooses tokens', async () => {
    const bypass = corrected({ bypass_mode: true, loss_type: 'reinforce', rollout_is: 'token' })
    await follow(phaseOf({}, shuffled, bypass))
    const policy_loss = { ...BASE.actor.policy_loss, clip_cov_ratio: 0.2, clip_cov_lb: -10 }
    await follow(phaseOf({}, { ...shuffled, loss_mode: 'clip_cov', policy_loss }))
  })
})

describe('what goes with any of them', () => {
  test('an entropy bonus', async () => {
    await follow(phaseOf({}, { entropy_coeff: 0.1 }))
  })
  test('a batch in the order of even lengths', async () => {
    await follow(phaseOf({}, {}, { balance_batch: true }))
  })
  test('advantages without the spread', async () => {
    await follow(phaseOf({}, {}, { norm_adv_by_std_in_grpo: false }))
  })
  test('a temperature', async () => {
    await follow(phaseOf({ rollout: { ...BASE.rollout, temperature: 0.7 } }))
  })
  test.for(['grpo', 'gae', 'optimal_token_baseline', 'remax'] as const)(
    'an inner layer, by %s',
    async (adv_estimator) => {
      const kl = { use_kl_loss: true, kl_loss_coef: 0.3, ppo_epochs: 2 }
      await follow(phaseOf({ adv_estimator, target_layer: 2 }, kl, { use_kl_in_reward: true }))
    },
  )
  test('layer by layer from the bottom, then the whole model', async () => {
    const layers = CONFIG.model.num_hidden_layers
    const bottomUp = Array.from({ length: layers }, (_, i) => phaseOf({ target_layer: i + 1 }))
    const { truth } = await followAll(bottomUp)
    expect(truth).toHaveLength(STEPS * layers)
  })
})
