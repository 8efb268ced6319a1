// Every estimator, loss, mean, KL and mode in the real trainer: a step or two on a tiny model
// follow float64.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { KL_PENALTIES } from '../../../kernels/kl/kl_penalty.ts'
import { LOSS_AGG_MODES } from '../../../kernels/policy_loss/aggregations/aggregations.ts'
import type { Actor as ActorSettings } from '../../config/actor.ts'
import type { Algorithm } from '../../config/algorithm.ts'
import type { Inner } from '../../config/inner.ts'
import type { RlPhase } from '../../config/phase.ts'
import { ADV_ESTIMATORS } from '../../estimators/advantages.ts'
import { LOSS_MODES } from '../../losses/losses.ts'
import { CONFIG } from '../../testing.ts'
import { B, BASE, changes, corrected, follow, followAll, phaseOf, R } from './testing.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Where LONG_TESTS is set, all of these; else those named: the kernels of the others have tests of
 * their own. */
const those = <T>(all: readonly T[], ...named: readonly T[]) =>
  process.env.LONG_TESTS ? all : named
const longTest = test.skipIf(!process.env.LONG_TESTS)

describe('advantage estimators', () => {
  test.for(ADV_ESTIMATORS)('%s', async (adv_estimator) => {
    // Penalties for length make many scores of two, none of which would be right.
    const len = adv_estimator === 'rejection_sampling' ? null : 2
    const overlong_buffer = { len, penalty_factor: 0.5 }
    const { truth } = await follow(phaseOf({ adv_estimator }, {}, { overlong_buffer }))
    for (const metrics of truth) {
      expect(metrics['critic/advantages/max']).toBeGreaterThan(metrics['critic/advantages/min'])
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    }
  })
})

describe('policy losses', () => {
  const policy_loss = {
    ...BASE.actor.policy_loss,
    clip_cov_ratio: 0.2,
    clip_cov_lb: -10,
    clip_cov_ub: 10,
    kl_cov_ratio: 0.2,
    ppo_kl_coef: 1,
  }
  // objective.gpu.test.ts has every loss with every mean, without the run around it.
  test.for(those(LOSS_MODES, 'vanilla', 'gspo', 'clip_cov'))('%s', async (loss_mode) => {
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
  test.for(those(LOSS_AGG_MODES, 'token-mean', 'seq-mean-token-mean'))(
    '%s, of actor and critic',
    async (loss_agg_mode) => {
      const critic = { ...BASE.critic, loss_agg_mode }
      const actor = { loss_agg_mode, entropy_coeff: 0.05, use_kl_loss: true, kl_loss_coef: 0.5 }
      await follow(phaseOf({ adv_estimator: 'gae', critic }, actor, { lam: 0.9, gamma: 0.97 }))
    },
  )
  longTest('token sums over a constant that is given', async () => {
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
  longTest('a warm-up over a share of the steps of both phases, of critic and actor', async () => {
    const warm = (lr: number, lr_warmup_steps_ratio: number) => ({
      ...BASE.actor.optim,
      lr,
      lr_warmup_steps: null,
      lr_warmup_steps_ratio,
    })
    const critic = { ...BASE.critic, optim: warm(0.005, 0.99) }
    const phase = phaseOf({ ...gae, critic, steps: 2 }, { optim: warm(0.02, 0.5) })
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
    const { truth } = await follow(phaseOf({ ...gae, critic, steps: 2 }))
    expect(truth.map((metrics) => 'actor/pg_loss' in metrics)).toEqual([false, true])
  })
})

describe('KL to the reference', () => {
  // In the first step the policy still is the reference.
  const steps = 2
  const kl_ctrl = { ...BASE.algorithm.kl_ctrl, kl_coef: 0.3 }
  test.for(those(KL_PENALTIES, 'kl', 'low_var_kl', 'mse+'))(
    '%s, in the loss and in the reward',
    async (penalty) => {
      const inLoss = { use_kl_loss: true, kl_loss_coef: 0.5, kl_loss_type: penalty }
      const inReward = { use_kl_in_reward: true, kl_penalty: penalty, kl_ctrl }
      const followed = await follow(phaseOf({ steps }, inLoss, inReward))
      for (const name of ['actor/kl_loss', 'actor/reward_kl_penalty'])
        expect(Math.abs(changes(followed, name)[1]), name).toBeGreaterThan(1e-3)
      expect(changes(followed, 'actor/reward_kl_penalty_coeff')).toEqual([0.3, 0.3])
    },
  )
  test.for(those(['gae', 'reinforce_plus_plus', 'grpo'] as const, 'gae'))(
    'of the whole response at its last token, by %s',
    async (adv_estimator) => {
      const kl = { use_kl_in_reward: true, kl_ctrl, gamma: 0.9, lam: 0.8 }
      const atLast = { ...kl, kl_at_last_token: true }
      const first = await follow(phaseOf({ adv_estimator, steps }, {}, atLast))
      const each = await follow(phaseOf({ adv_estimator, steps }, {}, kl))
      const [a, b] = [first, each].map((followed) => changes(followed, 'critic/advantages/max')[1])
      // Where a response has one reward, it does not matter where that is.
      if (adv_estimator === 'grpo') expect(a).toBeCloseTo(b, 3)
      else expect(Math.abs(a - b)).toBeGreaterThan(1e-3)
    },
  )
  test('in both places, with a coefficient that follows it and a critic', async () => {
    const adaptive = { type: 'adaptive', kl_coef: 0.3, target_kl: 0.05, horizon: 50 } as const
    const algorithm = { use_kl_in_reward: true, kl_penalty: 'k2', kl_ctrl: adaptive } as const
    const gae = { adv_estimator: 'gae', steps } as const
    const followed = await follow(phaseOf(gae, { use_kl_loss: true }, algorithm))
    expect(changes(followed, 'actor/reward_kl_penalty_coeff')[1]).toBeLessThan(0.3)
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
  test.for(those(parts, parts[3]))('%s', async ([, actor, algorithm]) => {
    // The second step draws other prompts.
    const followed = await follow(
      phaseOf(algorithm.filter_groups ? { steps: 2 } : {}, actor, algorithm),
    )
    if (actor.clip_ratio_high)
      expect(Math.max(...changes(followed, 'actor/pg_clipfrac'))).toBeGreaterThan(0)
    if (algorithm.filter_groups) {
      expect(Math.max(...changes(followed, 'train/num_gen_batches'))).toBeGreaterThan(1)
      expect(changes(followed, 'group/informative')).toEqual([1, 1])
    }
    if (algorithm.overlong_buffer?.len)
      expect(Math.min(...changes(followed, 'critic/score/min'))).toBeLessThan(0)
  })
})

describe('TRL’s options', () => {
  type Option = readonly [string, Partial<ActorSettings>, Partial<Algorithm>, Partial<RlPhase>?]
  const KL = { use_kl_loss: true, kl_loss_coef: 0.5 }
  const narrow = { clip_ratio_low: 0.02, clip_ratio_high: 0.03 }
  // Two columns are too short for most responses.
  const short = { rollout: { ...BASE.rollout, max_response_length: 2 } }
  const options: readonly Option[] = [
    [
      'importance_sampling_level, of the loss',
      { importance_sampling_level: 'sequence', ...narrow },
      {},
    ],
    [
      'importance_sampling_level, of a held ratio',
      { importance_sampling_level: 'sequence', loss_mode: 'cispo', ...narrow },
      {},
    ],
    ['top_entropy_quantile', { top_entropy_quantile: 0.4, entropy_coeff: 0.1 }, {}],
    // In the first step the policy still is the reference.
    ['sync_ref_model', { ...KL, sync_ref_model: true, ref_model_sync_steps: 3 }, {}, { steps: 2 }],
    ['mask_truncated_completions', {}, { mask_truncated_completions: true }, short],
    ['shuffle_scores, which is ours', {}, { shuffle_scores: true }],
  ]
  test.for(options)('%s', async ([, actor, algorithm, phase]) => {
    const { use_kl_loss = false } = actor
    const [on, off] = [
      await follow(phaseOf(phase, { ppo_epochs: 2, ...actor }, algorithm)),
      await follow(phaseOf(phase, { ppo_epochs: 2, use_kl_loss, kl_loss_coef: 0.5 })),
    ]
    const [a, b] = [on, off].map((followed) => changes(followed, 'actor/grad_norm').at(-1) ?? 0)
    expect(Math.abs(a / b - 1)).toBeGreaterThan(1e-3)
  })
})

describe('inner layers that learn along', () => {
  const own = { objective: 'deep_supervision' } as const
  const two = { layers: '2,1', weights: '0.3,0.8' }
  const kl = { use_kl_loss: true, kl_loss_coef: 0.5, entropy_coeff: 0.05 }
  type Case = readonly [string, Partial<Inner>, Partial<ActorSettings>?, Partial<Algorithm>?]
  const oisd = { ...two, beta: 0.3, token_weight: 'advantage' } as const
  const cases: readonly Case[] = [
    ['the final layer teaches two by the advantage (OISD)', oisd, kl],
    ['the same objective at two layers (deep supervision)', { ...two, ...own }, kl],
    ['the final layer teaches through the norm', { layers: '1', readout: 'normed', beta: 1 }],
    ['the final layer teaches through a lens', { layers: '2', readout: 'tuned', weights: '0.5' }],
    [
      'the same objective through the norm, by another loss and mean',
      { ...own, layers: '2', readout: 'normed', weights: '0.7' },
      { loss_mode: 'gspo', loss_agg_mode: 'seq-mean-token-mean' },
    ],
    [
      'the same objective with importance weights',
      { ...own, layers: '1', weights: '0.5' },
      {},
      corrected({ rollout_is: 'token' }),
    ],
  ]
  test.for(those(cases, cases[0], cases[1]))('%s', async ([, inner, actor, algorithm]) => {
    const noise = algorithm ? 0.4 : 0
    const plain = { ppo_epochs: 2, ...actor }
    const learns = { ...plain, inner: { ...BASE.actor.inner, ...inner } }
    const on = await follow(phaseOf({ steps: 2 }, learns, algorithm), noise)
    vi.restoreAllMocks()
    const off = await follow(phaseOf({ steps: 2 }, plain, algorithm), noise)
    const [a, b] = [on, off].map((followed) => changes(followed, 'actor/grad_norm')[0])
    expect(Math.abs(a / b - 1)).toBeGreaterThan(1e-3)
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
  longTest(
    'of the critic too, with a KL in both places, weights and tokens that are taken out',
    async () => {
      const critic = { ...BASE.critic, ppo_epochs: 3, ppo_mini_batch_size: 1 }
      const algorithm = {
        ...corrected({ rollout_is: 'token', rollout_rs: 'token_k2', rollout_rs_threshold: '0.02' }),
        use_kl_in_reward: true,
        balance_batch: true,
      }
      const actor = { ...shuffled, use_kl_loss: true, kl_loss_coef: 0.3 }
      await follow(phaseOf({ adv_estimator: 'gae', critic, steps: 2 }, actor, algorithm), 0.4)
    },
  )
  longTest('in bypass mode, and where a loss chooses tokens', async () => {
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
  test('an entropy bonus that follows a target', async () => {
    // Above the entropy of the first steps, below that of later ones.
    const target = { use_adaptive_entropy: true, entropy_coeff: 0.2, entropy_target: 2.2 }
    const bounds = { entropy_coef_delta: 0.3, entropy_coef_max: 0.7 }
    const followed = await follow(phaseOf({ steps: 4 }, { ...target, ...bounds }))
    const weights = changes(followed, 'actor/entropy_coeff')
    expect(weights.slice(0, 2)).toEqual([0, 0.5])
    expect(weights).toContain(0.7)
  })
  test('samples of the policy two steps ago, with importance weights', async () => {
    const rollout = { ...BASE.rollout, staleness: 2 }
    const followed = await follow(
      phaseOf({ steps: 4, rollout }, {}, corrected({ rollout_is: 'token' })),
    )
    expect(changes(followed, 'rollout/staleness')).toEqual([0, 1, 2, 2])
    const kl = changes(followed, 'rollout_corr/kl').map(Math.abs)
    expect(kl[0]).toBeLessThan(1e-9)
    expect(Math.min(...kl.slice(1))).toBeGreaterThan(1e-3)
  })
  test('a batch of which a half is stale', async () => {
    const rollout = { ...BASE.rollout, staleness: 1, stale_fraction: 0.5 }
    const followed = await follow(phaseOf({ steps: 2, rollout }))
    expect(changes(followed, 'rollout/staleness')).toEqual([0, 0.5])
  })
  test('a batch in the order of even lengths', async () => {
    await follow(phaseOf({}, {}, { balance_batch: true }))
  })
  test('matrices that Muon trains, of an inner layer and of the critic too', async () => {
    const optimizer = 'Muon' as const
    const optim = { ...BASE.actor.optim, optimizer }
    const critic = { ...BASE.critic, optim: { ...BASE.critic.optim, optimizer } }
    const inner = { adv_estimator: 'gae', target_layer: 2 } as const
    const [muon, adamw] = [
      await follow(phaseOf({ ...inner, critic }, { optim, ppo_epochs: 2 })),
      await follow(phaseOf(inner, { ppo_epochs: 2 })),
    ]
    const [a, b] = [muon, adamw].map((followed) => changes(followed, 'actor/grad_norm')[0])
    expect(Math.abs(a / b - 1)).toBeGreaterThan(1e-4)
  })
  test.for([true, false])('a teacher, with task rewards %s', async (use_task_rewards) => {
    const followed = await follow(phaseOf({ steps: 2 }, {}, { opd_kl_coef: 0.6, use_task_rewards }))
    const [first] = changes(followed, 'distillation/reverse_kl')
    expect(Math.abs(first)).toBeGreaterThan(0.1)
  })
  test('advantages without the spread', async () => {
    await follow(phaseOf({}, {}, { norm_adv_by_std_in_grpo: false }))
  })
  test('a temperature', async () => {
    await follow(phaseOf({ rollout: { ...BASE.rollout, temperature: 0.7 } }))
  })
  test.for(those(['grpo', 'gae', 'optimal_token_baseline', 'remax'] as const, 'grpo', 'gae'))(
    'an inner layer, by %s',
    async (adv_estimator) => {
      const kl = { use_kl_loss: true, kl_loss_coef: 0.3, ppo_epochs: 2 }
      const inner = { adv_estimator, target_layer: 2, steps: 2 }
      await follow(phaseOf(inner, kl, { use_kl_in_reward: true }))
    },
  )
  describe('a layer that is read through a lens', () => {
    const kl = { use_kl_loss: true, kl_loss_coef: 0.3, entropy_coeff: 0.05 }
    test.for(['tuned', 'jacobian'] as const)('%s', async (target_readout) => {
      const inner = { target_layer: 2, target_readout, steps: 2 }
      const followed = await follow(phaseOf(inner, kl, { use_kl_in_reward: true }))
      const [raw] = changes(await follow(phaseOf({ target_layer: 2 }, kl)), 'actor/grad_norm')
      expect(Math.abs(changes(followed, 'actor/grad_norm')[0] / raw - 1)).toBeGreaterThan(1e-3)
    })
  })
  describe('an inner layer and then the whole model, as BuPO’s fork of verl trains them', () => {
    const decay = { optim: { ...BASE.actor.optim, weight_decay: 2 } }
    const trained = async (part: Partial<RlPhase>, actor: Partial<ActorSettings>) => {
      const inner = phaseOf({ target_layer: 2, steps: 2, ...part }, { ...decay, ...actor })
      return changes(await followAll([inner, phaseOf({}, decay)]), 'actor/pg_loss')
    }
    test('with a final norm that is decayed and counted in the inner phase', async () => {
      const [zero, none] = [await trained({ decay_final_norm: true }, {}), await trained({}, {})]
      // The rollout of the first step has not seen it; that of the second has.
      expect(zero[0]).toBe(none[0])
      expect(zero[2]).not.toBe(none[2])
    })
    test('with a bonus for the entropy of the whole model, in micro-batches and with a KL', async () => {
      const actor = { entropy_coeff: 0.1, use_kl_loss: true, ppo_micro_batch_size_per_gpu: 2 }
      const [whole, own] = [
        await trained({}, { ...actor, entropy_of: 'final' }),
        await trained({}, { ...actor, entropy_of: 'target_layer' }),
      ]
      expect(Math.abs(whole[0] - own[0])).toBeGreaterThan(1e-5)
    })
  })
  longTest('layer by layer from the bottom, then the whole model', async () => {
    const layers = CONFIG.model.num_hidden_layers
    const bottomUp = Array.from({ length: layers }, (_, i) => phaseOf({ target_layer: i + 1 }))
    const { truth } = await followAll(bottomUp)
    expect(truth).toHaveLength(layers)
  })
})
