import { expect, test } from 'vitest'
import { ACTOR_DEFAULTS } from '../../../rl/config/actor.ts'
import { ALGORITHM_DEFAULTS } from '../../../rl/config/algorithm.ts'
import { CRITIC } from '../../../rl/config/critic.ts'
import { defaultsOf } from '../../../rl/fields/field.ts'
import { withField } from '../experiment.ts'
import { easierTasks } from '../fields/curriculum.ts'
import { resolvePhases } from '../resolve.ts'
import { edited, issues, parsed } from '../testing.ts'
import { CONDITIONS } from './conditions.ts'
import { experimentFields } from './form.ts'

test('every field has a value that its own limits allow, a unit, a sentence of help and a group', () => {
  const experiment = parsed({ phases: [{ kind: 'sft' }, { kind: 'rl' }] })
  const fields = experimentFields(experiment)
  expect(new Set(fields.map(({ path }) => path)).size).toBe(fields.length)
  for (const field of fields) {
    expect(field.help, field.path).toMatch(/\.$/)
    expect(typeof field.live, field.path).toBe('boolean')
    expect(typeof field.unit, field.path).toBe('string')
    expect(field.group, field.path).not.toBe('')
    expect(field.value, field.path).toBe(field.default)
    if (field.value !== null && (field.kind === 'integer' || field.kind === 'number')) {
      expect(field.value, field.path).toBeGreaterThanOrEqual(field.min as number)
      expect(field.value, field.path).toBeLessThanOrEqual(field.max as number)
      if (field.scale === 'log') expect(field.min, field.path).toBeGreaterThan(0)
    }
    if (field.kind === 'select')
      expect(field.options?.map(({ value }) => value)).toContain(field.value)
    const same = withField(experiment, field.path, field.value)
    expect(same.ok, field.path).toBe(true)
  }
  const paths = fields.map(({ path }) => path)
  expect(paths).toContain('phases.1.target_layer')
  expect(paths).toContain('phases.1.actor.optim.betas.0')
  expect(paths).toContain('task.correct_share')
})

test('a form can set every number to its limits, or hears why not', () => {
  const experiment = parsed({})
  for (const field of experimentFields(experiment))
    for (const value of [field.min, field.max]) {
      if (value === undefined || field.kind === 'text') continue
      const result = withField(experiment, field.path, value)
      const message = result.ok ? undefined : result.message
      if (message) expect(message, field.path).toMatch(/because|off/)
      else
        expect(
          result.ok &&
            experimentFields(result.experiment).find(({ path }) => path === field.path)?.value,
        ).toBe(value)
    }
})

test('a form can choose every option, or hears why not', () => {
  for (const document of [
    {},
    {
      phases: [{ kind: 'rl', adv_estimator: 'gae', actor: { use_kl_loss: true } }],
      rollout: { n: 2 },
      algorithm: { rollout_correction: { bypass_mode: true, loss_type: 'reinforce' } },
    },
  ]) {
    const experiment = parsed(document)
    for (const field of experimentFields(experiment)) {
      const options = field.kind === 'boolean' ? [true, false] : field.options?.map((o) => o.value)
      for (const value of options ?? []) {
        const result = withField(experiment, field.path, value)
        if (!result.ok) expect(result.message, `${field.path} = ${value}`).toMatch(/because/)
        else
          expect(
            experimentFields(result.experiment).find(({ path }) => path === field.path)?.value,
            field.path,
          ).toBe(value)
      }
    }
  }
})

test('a curriculum is chosen from the parameters of the task, and begins at the smallest value', () => {
  const experiment = parsed({ task: { id: 'sort_digits', length: 5 } })
  const field = (path: string, from = experiment) =>
    experimentFields(from).find((one) => one.path === `data.curriculum.${path}`)
  expect(field('param')).toMatchObject({
    kind: 'select',
    value: null,
    options: [
      { value: null, label: 'none' },
      { value: 'length', label: 'Length' },
    ],
  })
  const chosen = edited(experiment, 'data.curriculum.param', 'length')
  expect(field('start', chosen)).toMatchObject({ hasEffect: true, value: null })
  const values = easierTasks(chosen).map(({ value }) => value)
  expect(values).toEqual([2, 3, 4])
  const own = edited(chosen, 'data.curriculum.start', 4)
  expect(easierTasks(own).map(({ value }) => value)).toEqual([4])
})

test('clearing a field brings its default back', () => {
  const experiment = parsed({})
  const changed = edited(experiment, 'actor.clip_ratio_low', 0.3)
  expect(changed.actor.clip_ratio_low).toBe(0.3)
  expect(edited(changed, 'actor.clip_ratio_low', undefined)).toEqual(experiment)

  const own = edited(experiment, 'phases.1.actor.optim.lr', 0.001)
  const field = experimentFields(own).find(({ path }) => path === 'phases.1.actor.optim.lr')
  expect(field).toMatchObject({ value: 0.001, default: 0.0001, isOverridden: true })
  expect(edited(own, 'phases.1.actor.optim.lr', undefined)).toEqual(experiment)

  const beta = edited(experiment, 'phases.1.actor.optim.betas.1', 0.999)
  expect(resolvePhases(beta)[1]).toMatchObject({ actor: { optim: { betas: [0.9, 0.999] } } })
  expect(edited(beta, 'phases.1.actor.optim.betas.1', undefined)).toEqual(experiment)
})

test('every setting of the engine has a field, for the experiment and for each phase', () => {
  const paths = new Set(experimentFields(parsed({})).map(({ path }) => path))
  const leaves = (node: object, path: string): string[] =>
    Object.entries(node).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null
        ? leaves(value, `${path}.${name}`)
        : [`${path}.${name}`],
    )
  for (const path of [
    ...leaves(ACTOR_DEFAULTS, 'actor'),
    ...leaves(defaultsOf(CRITIC), 'critic'),
    ...leaves({ ...ALGORITHM_DEFAULTS, overlong_buffer: { len: 0 } }, 'algorithm'),
  ]) {
    expect(paths, path).toContain(path)
    expect(paths, path).toContain(`phases.1.${path}`)
  }
})

test('every condition is about a field', () => {
  const paths = experimentFields(parsed({})).map(({ path }) => path)
  for (const part of Object.keys(CONDITIONS))
    expect(
      paths.some((path) => path === part || path.startsWith(`${part}.`)),
      part,
    ).toBe(true)
})

/** Paths of the fields of the experiment, not of a phase, that have an effect. */
const effective = (document: object): string[] =>
  experimentFields(parsed(document))
    .filter(({ path, hasEffect }) => hasEffect && !path.startsWith('phases'))
    .map(({ path }) => path)

test.for<[string, object, RegExp, boolean]>([
  ['sapo has gates', { actor: { loss_mode: 'sapo' } }, /tau_/, true],
  ['sapo does not clip', { actor: { loss_mode: 'sapo' } }, /clip_ratio/, false],
  ['vanilla has no gates', {}, /tau_/, false],
  ['clip_cov', { actor: { loss_mode: 'clip_cov' } }, /clip_cov_lb/, true],
  ['clip_cov has nothing of kl_cov', { actor: { loss_mode: 'clip_cov' } }, /kl_cov|ppo_kl/, false],
  ['kl_cov', { actor: { loss_mode: 'kl_cov' } }, /ppo_kl_coef/, true],
  [
    'a constant for sums',
    { actor: { loss_agg_mode: 'seq-mean-token-sum-norm' } },
    /loss_scale_factor/,
    true,
  ],
  ['no constant for means', {}, /loss_scale_factor/, false],
  ['KL in the loss', { actor: { use_kl_loss: true } }, /kl_loss_coef/, true],
  ['KL in the loss alone', { actor: { use_kl_loss: true } }, /kl_ctrl|kl_penalty/, false],
  ['KL in the reward', { algorithm: { use_kl_in_reward: true } }, /kl_ctrl.kl_coef/, true],
  [
    'KL at the last token, where tokens have rewards of their own',
    { algorithm: { use_kl_in_reward: true }, phases: [{ kind: 'rl', adv_estimator: 'gae' }] },
    /kl_at_last_token/,
    true,
  ],
  ['sums know no token', { algorithm: { use_kl_in_reward: true } }, /kl_at_last_token/, false],
  [
    'no KL at the last token',
    { phases: [{ kind: 'rl', adv_estimator: 'gae' }] },
    /kl_at_last_token/,
    false,
  ],
  ['shuffled mini-batches', {}, /actor.shuffle/, true],
  ['one mini-batch has no order', { actor: { ppo_mini_batch_size: 32 } }, /actor.shuffle/, false],
  [
    'verl’s legacy worker shuffles nothing',
    { actor: { use_legacy_worker_impl: 'enable' } },
    /actor.shuffle/,
    false,
  ],
  [
    'a critic’s mini-batches are shuffled too',
    {
      actor: { ppo_mini_batch_size: 32 },
      critic: { ppo_mini_batch_size: 8 },
      phases: [{ kind: 'rl', adv_estimator: 'gae' }],
    },
    /actor.shuffle/,
    true,
  ],
  ['fixed KL', { algorithm: { use_kl_in_reward: true } }, /horizon|target_kl/, false],
  [
    'adaptive KL',
    { algorithm: { use_kl_in_reward: true, kl_ctrl: { type: 'adaptive' } } },
    /horizon/,
    true,
  ],
  ['a critic for gae', { phases: [{ kind: 'rl', adv_estimator: 'gae' }] }, /^critic/, true],
  ['gae has no groups', { phases: [{ kind: 'rl', adv_estimator: 'gae' }] }, /norm_adv/, false],
  [
    'a discount for REINFORCE++',
    { phases: [{ kind: 'rl', adv_estimator: 'reinforce_plus_plus' }] },
    /gamma/,
    true,
  ],
  [
    'no lambda for REINFORCE++',
    { phases: [{ kind: 'rl', adv_estimator: 'reinforce_plus_plus' }] },
    /lam$|^critic/,
    false,
  ],
  ['no critic for GRPO', {}, /^critic|gamma|lam$/, false],
  [
    'bypass mode chooses the loss',
    { algorithm: { rollout_correction: { bypass_mode: true } } },
    /actor.loss_mode/,
    false,
  ],
  ['a penalty for the overlong', { algorithm: { overlong_buffer: { len: 2 } } }, /penalty_f/, true],
  ['none for others', {}, /penalty_f/, false],
  ['held-out samples have a temperature', {}, /^validation.temperature/, true],
  ['greedy answers have none', { validation: { n: 0 } }, /^validation.temperature/, false],
  ['greedy answers are kept', { validation: { n: 0 } }, /^validation.log_val/, true],
  ['none without any', { validation: { test_freq: null } }, /^validation.(log_val|temp)/, false],
  [
    'one before training',
    { validation: { test_freq: null, val_before_train: 'enable' } },
    /^validation.log_val/,
    true,
  ],
])('what has an effect: %s', ([_, document, pattern, isThere]) => {
  expect(effective(document).some((path) => pattern.test(path))).toBe(isThere)
})

const rl = (own: object) => ({ phases: [{ kind: 'rl', ...own }] })
const correction = (rollout_correction: object) => ({ algorithm: { rollout_correction } })

test.for<[object, RegExp]>([
  [{ ...rl({ adv_estimator: 'rloo' }), rollout: { n: 1 } }, /^rollout.n: .*because RLOO compares/],
  [rl({ adv_estimator: 'grpo_passk', rollout: { n: 1 } }), /^phases.0.rollout.n: .*pass@k/],
  [
    { algorithm: { kl_ctrl: { type: 'adaptive', target_kl: 0 } } },
    /^algorithm.kl_ctrl.target_kl: expected a number above 0, because/,
  ],
  [correction({ rollout_rs: 'token_k1' }), /rollout_rs_threshold: expected 1 or 1 .*got 0/],
  [
    correction({ rollout_rs: 'token_k1,token_k2,seq_sum_k1', rollout_rs_threshold: '2,3' }),
    /rollout_rs_threshold: expected 1 or 3 .*got 2/,
  ],
  [
    correction({ rollout_rs: 'token_k2', rollout_rs_threshold: '1_2' }),
    /expected one upper bound for token_k2, because/,
  ],
  [
    correction({ rollout_rs: 'token_k1', rollout_rs_threshold: '2_1' }),
    /expected lower_upper for token_k1/,
  ],
  [
    correction({ rollout_rs: 'token_k1', rollout_rs_threshold: '0.5' }),
    /expected lower_upper for token_k1/,
  ],
  [
    { ...correction({ rollout_is: 'token' }), ...rl({ target_layer: 2 }) },
    /^algorithm.rollout_correction.rollout_is: .*trains layer 2, because/,
  ],
  [
    rl({ target_layer: 2, ...correction({ bypass_mode: true }) }),
    /^phases.0.algorithm.rollout_correction.bypass_mode: .*because/,
  ],
  [
    { actor: { ppo_micro_batch_size_per_gpu: 48 } },
    /^actor.ppo_micro_batch_size_per_gpu: .*divisor of the 128 responses .*because.* got 48/,
  ],
  [{ critic: { critic_warmup: 2 } }, /^critic.critic_warmup: expected 0, because only .*GAE/],
  [rl({ critic: { critic_warmup: 2 } }), /^phases.0.critic.critic_warmup: expected 0, because/],
  [
    { actor: { loss_mode: 'clip_cov', policy_loss: { clip_cov_lb: 6 } } },
    /^actor.policy_loss.clip_cov_lb: expected less than clip_cov_ub \(5\), because/,
  ],
  [
    { algorithm: { overlong_buffer: { len: 9 } } },
    /^algorithm.overlong_buffer.len: expected at most max_response_length \(4\), because/,
  ],
])('a rule between fields gives its reason: %j', ([document, message]) => {
  expect(issues(document)).toHaveLength(1)
  expect(issues(document)[0]).toMatch(message)
})

test.for<[object]>([
  [{ ...rl({ adv_estimator: 'gae' }), rollout: { n: 1 } }],
  [{ ...rl({ adv_estimator: 'remax' }), rollout: { n: 1 } }],
  [{ ...rl({ adv_estimator: 'reinforce_plus_plus' }), rollout: { n: 1 } }],
  [{ actor: { use_kl_loss: true, kl_loss_coef: 0 } }],
  [correction({ rollout_rs: 'token_k1, seq_max_k2', rollout_rs_threshold: '0.5_2, 0.1' })],
  [correction({ bypass_mode: true, loss_type: 'reinforce', rollout_is: 'token' })],
  [{ actor: { ppo_micro_batch_size_per_gpu: 32 } }],
  // Meant for the phase that has a critic.
  [
    {
      phases: [{ kind: 'rl' }, { kind: 'rl', adv_estimator: 'gae' }],
      critic: { critic_warmup: 2 },
    },
  ],
  [{ algorithm: { kl_ctrl: { target_kl: 0 } } }],
  [{ ...correction({ rollout_is: 'token' }), ...rl({ target_layer: 'final' }) }],
])('legal: %j', ([document]) => {
  expect(issues(document)).toEqual([])
})
