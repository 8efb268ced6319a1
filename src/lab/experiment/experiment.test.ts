import { describe, expect, test } from 'vitest'

import { ACTOR_DEFAULTS, ALGORITHM_DEFAULTS, CRITIC_DEFAULTS } from '../../rl/config/phase.ts'
import { newPhase, parseExperiment, withField } from './experiment.ts'
import { CONDITIONS } from './form/conditions.ts'
import { experimentFields } from './form/form.ts'
import { resolvePhases } from './resolve.ts'
import type { Experiment } from './schema.ts'

const parsed = (document: unknown): Experiment => {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}
const issues = (document: unknown) => {
  const result = parseExperiment(document)
  return result.ok ? [] : result.issues.map(({ path, message }) => `${path}: ${message}`)
}
const edited = (experiment: Experiment, path: string, value: unknown): Experiment => {
  const result = withField(experiment, path, value)
  if (!result.ok) throw new Error(result.message)
  return result.experiment
}

test('an empty document is a whole experiment, and parsing it again changes nothing', () => {
  const experiment = parsed({})
  expect(experiment.task).toEqual({ id: 'two_skills_addition', digits: 2, correct_share: 0.25 })
  expect(experiment.phases.map(({ kind }) => kind)).toEqual(['sft', 'rl'])
  expect(experiment.actor.optim).toMatchObject({
    lr: 0.0001,
    betas: [0.9, 0.95],
    weight_decay: 0,
  })
  expect(experiment.phases[0]).toMatchObject({ optim: { lr: 0.003, weight_decay: 0.01 } })
  expect(experiment.rollout.max_response_length).toBe(4)
  expect(parsed(experiment)).toEqual(experiment)
  expect(parsed(JSON.parse(JSON.stringify(experiment)))).toEqual(experiment)
})

test('every refusal names the field and the legal values', () => {
  expect(issues({ actor: { clip_ratio_low: 7 } })).toEqual([
    'actor.clip_ratio_low: expected a number from 0.001 to 0.99, got 7',
  ])
  expect(issues({ seed: 1.5 })).toEqual([
    'seed: expected a whole number from 0 to 4294967295, got 1.5',
  ])
  expect(issues({ actor: { use_torch_compile: true } })[0]).toMatch(
    /^actor.use_torch_compile: unknown or not yet supported; legal here: ppo_mini_batch_size, .*entropy_coeff/,
  )
  expect(issues({ critic: { lr: 1 } })[0]).toMatch(
    /^critic.lr: unknown or not yet supported; legal here: critic_warmup, /,
  )
  expect(issues({ task: { id: 'chess' } })[0]).toMatch(
    /^task.id: expected 'two_skills_addition' or .*, got 'chess'$/,
  )
  expect(issues({ task: { id: 'sort_digits', length: 99 } })).toEqual([
    'task.length: expected a whole number from 2 to 8, got 99',
  ])
  expect(issues({ phases: [{ kind: 'dpo' }] })).toEqual([
    "phases.0.kind: expected 'sft' or 'reward_model' or 'rl', got 'dpo'",
  ])
  expect(issues({ phases: [{ kind: 'rl', adv_estimator: 'dpo' }] })[0]).toMatch(
    /^phases.0.adv_estimator: expected 'grpo' or 'gae' or .*, got 'dpo'$/,
  )
  expect(issues({ actor: { policy_loss: { kl_cov_ratio: 0 } } })).toEqual([
    'actor.policy_loss.kl_cov_ratio: expected a number from 0.000001 to 1, got 0',
  ])
  for (const rollout_rs of ['token', 'token_k1;token_k2', ',', 'toString'])
    expect(issues({ algorithm: { rollout_correction: { rollout_rs } } })[0]).toMatch(
      /^algorithm.rollout_correction.rollout_rs: expected nothing or some of token_k1, .*seq_max_k3/,
    )
  for (const rollout_rs_threshold of ['a', '0', '-1', '1__2', '1_2_3', '2,,a', '1e999', 'Infinity'])
    expect(
      issues({ algorithm: { rollout_correction: { rollout_rs_threshold } } })[0],
      rollout_rs_threshold,
    ).toMatch(/rollout_rs_threshold: expected nothing or numbers above 0/)
  expect(issues({ phases: [] })).toEqual(['phases: expected at least one phase'])
  expect(issues({ version: 2 })).toEqual(['version: expected version 1, got 2'])
  expect(issues({ rollout: { temperature: Number.NaN } })[0]).toMatch(/^rollout.temperature: /)
  expect(issues({ name: 'a\u0000b' })).toHaveLength(1)
  for (const hidden of ['\u202e', '\u2066', '\u200b', '\ufeff', '\u2028'])
    expect(issues({ name: `a${hidden}b` })).toHaveLength(1)
  expect(parsed({ name: '👩\u200d🔬 שלום\u200f' }).name).toBe('👩\u200d🔬 שלום\u200f')
  expect(issues({ name: '\ud800' })).toHaveLength(1)
})

test('rules between fields give their reason', () => {
  expect(issues({ model: { num_key_value_heads: 3 } })[0]).toMatch(/divisor .*because/)
  expect(issues({ model: { head_dim: 15 } })[0]).toMatch(/^model.head_dim: .*even.*because/)
  expect(issues({ rollout: { train_batch_size: 24 } })[0]).toMatch(
    /^actor.ppo_mini_batch_size: expected a divisor of train_batch_size \(24\), because/,
  )
  expect(issues({ rollout: { n: 1 } })[0]).toMatch(/^rollout.n: expected at least 2 .*because GRPO/)
  expect(issues({ rollout: { top_k: 0 } })).toHaveLength(1)
  expect(issues({ validation: { temperature: 0.05, n: 32 } })).toEqual([])
  expect(issues({ validation: { temperature: 0.01 } })[0]).toMatch(
    /^validation.temperature: expected 0 .*or at least 0.05, because logits are divided by it/,
  )
  expect(issues({ rollout: { max_response_length: 3 } })[0]).toMatch(/at least 4, because/)
  expect(issues({ phases: [{ kind: 'rl', target_layer: 7 }] })[0]).toMatch(
    /^phases.0.target_layer: expected 'final' or a layer of the model, which has 6; got 7/,
  )
  // A phase's own setting is named as its own.
  expect(issues({ phases: [{ kind: 'rl', rollout: { n: 1 } }] })[0]).toMatch(/^phases.0.rollout.n:/)
})

test('a shared setting that no phase uses as it stands may break a rule of phases', () => {
  expect(issues({ phases: [{ kind: 'sft' }], rollout: { n: 1 } })).toEqual([])
})

test('hostile documents are refused, quickly and without throwing', () => {
  let deep: unknown = 1
  for (let i = 0; i < 10000; i++) deep = [deep]
  const loop: Record<string, unknown> = {}
  loop.model = loop
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 1]))
  for (const document of [
    null,
    undefined,
    'text',
    [],
    7,
    deep,
    loop,
    wide,
    { phases: Array(1e6).fill({ kind: 'sft' }) },
    { phases: Array(17).fill({ kind: 'sft' }) },
    { phases: { length: 2 } },
    { name: 'x'.repeat(1e6) },
    JSON.parse('{"__proto__": {"seed": 3}}'),
    { constructor: { prototype: {} } },
    { task: [] },
    { model: 'big' },
    { seed: '1' },
  ])
    expect(parseExperiment(document).ok).toBe(false)
  expect(({} as Record<string, unknown>).seed).toBeUndefined()
})

test('phases resolve with their own settings laid over the experiment’s, and with names', () => {
  const experiment = parsed({
    phases: [
      { kind: 'sft', steps: 5 },
      {
        kind: 'rl',
        target_layer: 5,
        actor: { optim: { lr: 0.002 } },
        rollout: { temperature: 0.5 },
      },
      { kind: 'rl', name: 'end' },
    ],
    actor: { clip_ratio_high: 0.28 },
  })
  const [sft, inner, final] = resolvePhases(experiment)
  expect(sft).toMatchObject({ kind: 'sft', name: 'warm start', steps: 5, batch_size: 256 })
  expect(inner).toMatchObject({
    name: 'layer 5',
    target_layer: 5,
    rollout: { temperature: 0.5, train_batch_size: 32 },
    actor: { clip_ratio_high: 0.28, optim: { lr: 0.002, lr_warmup_steps: 10 } },
    algorithm: { norm_adv_by_std_in_grpo: true },
  })
  expect(final).toMatchObject({
    name: 'end',
    target_layer: 6,
    rollout: { temperature: 1 },
    actor: { optim: { lr: 0.0001 } },
  })
})

test('the last layer has one name', () => {
  const { phases } = parsed({ phases: [{ kind: 'rl', target_layer: 6 }] })
  expect(phases[0]).toMatchObject({ target_layer: 'final' })
})

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
    if (field.kind === 'integer' || field.kind === 'number') {
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

test('clearing a field brings its default back', () => {
  const experiment = parsed({})
  const changed = edited(experiment, 'actor.clip_ratio_low', 0.3)
  expect(changed.actor.clip_ratio_low).toBe(0.3)
  expect(edited(changed, 'actor.clip_ratio_low', undefined)).toEqual(experiment)

  const own = edited(experiment, 'phases.1.actor.optim.lr', 0.001)
  const field = experimentFields(own).find(({ path }) => path === 'phases.1.actor.optim.lr')
  expect(field).toMatchObject({ value: 0.001, default: 0.0001, is_overridden: true })
  expect(edited(own, 'phases.1.actor.optim.lr', undefined)).toEqual(experiment)

  const beta = edited(experiment, 'phases.1.actor.optim.betas.1', 0.999)
  expect(resolvePhases(beta)[1]).toMatchObject({ actor: { optim: { betas: [0.9, 0.999] } } })
  expect(edited(beta, 'phases.1.actor.optim.betas.1', undefined)).toEqual(experiment)
})

test('a new task brings its parameters and room for its answers', () => {
  const sort = edited(parsed({}), 'task.id', 'sort_digits')
  expect(sort.task).toEqual({ id: 'sort_digits', length: 6 })
  expect(sort.rollout.max_response_length).toBe(7)
  expect(edited(sort, 'task.length', 3).rollout.max_response_length).toBe(4)
  // Chosen by hand and still enough: kept.
  const roomy = edited(sort, 'rollout.max_response_length', 20)
  expect(edited(roomy, 'task.length', 8).rollout.max_response_length).toBe(20)
  // Chosen by hand and too short now: raised.
  const short = edited(edited(sort, 'task.length', 3), 'rollout.max_response_length', 5)
  expect(edited(short, 'task.length', 8).rollout.max_response_length).toBe(9)
})

test('an edit of a path that is no field is refused and touches nothing', () => {
  const experiment = parsed({})
  for (const path of [
    '',
    'actor',
    '__proto__.polluted',
    'constructor.prototype.polluted',
    'phases.9.steps',
    'phases.0.target_layer',
    'actor.optim.lr.x',
    'actor.use_torch_compile',
    'critic',
    'phases.length',
  ])
    expect(withField(experiment, path, 1).ok, path).toBe(false)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(experiment).toEqual(parsed({}))
})

test('phases are added as a whole list', () => {
  const experiment = parsed({})
  const phases = [...experiment.phases, newPhase('rl')]
  expect(edited(experiment, 'phases', phases).phases).toHaveLength(3)
  // A batch of single responses is no place for a group estimator.
  const ppo = parsed({ phases: [{ kind: 'rl', adv_estimator: 'gae' }], rollout: { n: 1 } })
  const added = [...ppo.phases, newPhase('rl', ppo.phases)]
  expect(edited(ppo, 'phases', added).phases[1]).toMatchObject({ adv_estimator: 'gae' })
  expect(withField(experiment, 'phases', [])).toEqual({
    ok: false,
    message: 'phases: expected at least one phase',
  })
})

test('an experiment that says nothing trains with the defaults of the engine', () => {
  const [, phase] = resolvePhases(parsed({}))
  if (phase.kind !== 'rl') throw new Error('expected a phase of reinforcement learning')
  expect(phase.actor).toMatchObject(ACTOR_DEFAULTS)
  expect(phase.critic).toEqual(CRITIC_DEFAULTS)
  expect(phase.algorithm).toEqual(ALGORITHM_DEFAULTS)
})

test('documents that stated verl’s settings when they had one value here still mean the same', () => {
  const stated = {
    critic: {},
    actor: { use_kl_loss: false },
    algorithm: { gamma: 1, lam: 1, use_kl_in_reward: false, norm_adv_by_std_in_grpo: false },
  }
  expect(parsed(stated)).toEqual(parsed({ algorithm: { norm_adv_by_std_in_grpo: false } }))
})

test('what verl writes as null may be written so, and reaches the engine as null', () => {
  const nulls = {
    actor: { loss_scale_factor: null, ppo_micro_batch_size_per_gpu: null },
    algorithm: {
      overlong_buffer: null,
      rollout_correction: { rollout_is: null, rollout_rs: null, rollout_rs_threshold: null },
    },
  }
  expect(parsed(nulls)).toEqual(parsed({}))
  const set = parsed({
    actor: { loss_scale_factor: 7, ppo_micro_batch_size_per_gpu: 32 },
    algorithm: {
      overlong_buffer: { len: 2 },
      rollout_correction: {
        rollout_is: 'token',
        rollout_rs: 'token_k1',
        rollout_rs_threshold: 2.5,
      },
    },
    phases: [
      { kind: 'rl', ...nulls },
      { kind: 'rl', actor: { policy_loss: { ppo_kl_coef: 3 } } },
    ],
  })
  expect(parsed(JSON.parse(JSON.stringify(set)))).toEqual(set)
  const [own, shared] = resolvePhases(set)
  expect(own).toMatchObject({
    actor: nulls.actor,
    algorithm: {
      ...nulls.algorithm,
      rollout_correction: { ...nulls.algorithm.rollout_correction, rollout_is_threshold: 2 },
    },
  })
  expect(shared).toMatchObject({
    actor: {
      loss_scale_factor: 7,
      ppo_micro_batch_size_per_gpu: 32,
      policy_loss: { ppo_kl_coef: 3, clip_cov_ratio: 0.0002 },
    },
    algorithm: {
      overlong_buffer: { len: 2, penalty_factor: 1 },
      rollout_correction: { rollout_is: 'token', rollout_rs_threshold: '2.5' },
    },
  })
  for (const section of ['model', 'rollout', 'critic', 'algorithm'])
    expect(parseExperiment({ [section]: null }).ok, section).toBe(false)
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
    ...leaves(CRITIC_DEFAULTS, 'critic'),
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
    .filter(({ path, has_effect }) => has_effect && !path.startsWith('phases'))
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
  ['none without any', { validation: { test_freq: 0 } }, /^validation.(log_val|temp)/, false],
  [
    'one before training',
    { validation: { test_freq: 0, val_before_train: 'enable' } },
    /^validation.log_val/,
    true,
  ],
])('what has an effect: %s', ([_, document, pattern, is_there]) => {
  expect(effective(document).some((path) => pattern.test(path))).toBe(is_there)
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
    correction({ bypass_mode: true, rollout_is: 'token' }),
    /^algorithm.rollout_correction.rollout_is: expected 'off' or loss_type reinforce, because/,
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
  [{ critic: { critic_warmup: 2 } }, /^critic.critic_warmup: expected 0, because only .*gae/],
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

describe('reward models', () => {
  const REWARDED = { kind: 'rl', reward_model: { enable: true } }
  const HUMAN = { kind: 'reward_model', pairs: { source: 'human' } }

  test('a phase has defaults, and its verdicts reach the engine as a list', () => {
    const [phase] = resolvePhases(
      parsed({ phases: [{ ...HUMAN, pairs: { source: 'human', verdicts: 'as3b' } }] }),
    )
    if (phase.kind !== 'reward_model') throw new Error('expected a reward model')
    expect(phase).toMatchObject({ name: 'reward model', steps: 100, batch_size: 32 })
    expect(phase.pairs).toEqual({
      source: 'human',
      count: 256,
      held_out: 64,
      temperature: 1,
      min_pairs: 12,
      verdicts: [
        { choice: 'a', step: 0 },
        { choice: 'skip', step: 0 },
        { choice: 'b', step: 3 },
      ],
    })
    const [, rl] = resolvePhases(parsed({ phases: [{ kind: 'reward_model' }, REWARDED] }))
    expect(rl).toMatchObject({ reward_model: { enable: true } })
    expect(resolvePhases(parsed({}))[1]).toMatchObject({ reward_model: { enable: false } })
  })

  test('nobody is rewarded by a model that was not trained before', () => {
    for (const phases of [[REWARDED], [REWARDED, { kind: 'reward_model' }]])
      expect(issues({ phases })).toEqual([
        'phases.0.reward_model.enable: expected false, because no earlier phase of kind reward_model trains a reward model to score the responses; got true',
      ])
    expect(issues({ phases: [{ kind: 'reward_model' }, REWARDED, REWARDED] })).toEqual([])
    // The form does not offer what would be refused.
    const offers = (phases: object[], index: number) =>
      experimentFields(parsed({ phases })).find(
        ({ path }) => path === `phases.${index}.reward_model.enable`,
      )?.has_effect
    expect(offers([{ kind: 'rl' }, { kind: 'reward_model' }, { kind: 'rl' }], 0)).toBe(false)
    expect(offers([{ kind: 'rl' }, { kind: 'reward_model' }, { kind: 'rl' }], 2)).toBe(true)
  })

  test('settings of pairs are refused with their reason, and shown where they matter', () => {
    const pairs = (change: object) => ({ phases: [{ kind: 'reward_model', pairs: change }] })
    expect(issues(pairs({ source: 'crowd' }))).toEqual([
      "phases.0.pairs.source: expected 'judge' or 'human' or 'mixed', got 'crowd'",
    ])
    expect(issues(pairs({ source: 'human', count: 6, held_out: 2, min_pairs: 9 }))).toEqual([
      'phases.0.pairs.min_pairs: expected at most 8, because there are no more pairs to judge; got 9',
    ])
    expect(issues(pairs({ count: 6, held_out: 2, min_pairs: 9 }))).toEqual([])
    for (const verdicts of ['abc', '3', '5a3b'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected nothing, or letters a, b, s and u/,
      )
    for (const verdicts of ['ss', '3ab'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected an a or b before the first number, because/,
      )
    for (const verdicts of ['au', 'asb2uuu', 'ab2uu5a'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected an a or b to stay in force, because training needs .* after step [02] of/,
      )
    for (const verdicts of ['ab2uub', 'ab2u'])
      expect(issues(pairs({ source: 'human', verdicts }))).toEqual([])
    expect(issues(pairs({ source: 'mixed', verdicts: '3ab' }))).toEqual([])
    const shown = (source: string) =>
      experimentFields(parsed(pairs({ source })))
        .filter(({ path, has_effect }) => /min_pairs|verdicts/.test(path) && has_effect)
        .map(({ path }) => path.replace('phases.0.pairs.', ''))
    expect(shown('judge')).toEqual([])
    expect(shown('human')).toEqual(['min_pairs', 'verdicts'])
    expect(shown('mixed')).toEqual(['verdicts'])
  })

  test('as in verl, a reward model’s score knows no overlong penalty', () => {
    const phases = [{ kind: 'reward_model' }, REWARDED]
    const buffer = ({ path }: { path: string }) => path === 'algorithm.overlong_buffer.len'
    expect(experimentFields(parsed({ phases })).find(buffer)?.has_effect).toBe(false)
    expect(experimentFields(parsed({})).find(buffer)?.has_effect).toBe(true)
  })
})
