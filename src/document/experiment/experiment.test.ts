import { expect, test } from 'vitest'
import { ACTOR_DEFAULTS } from '../../rl/config/actor.ts'
import { ALGORITHM_DEFAULTS } from '../../rl/config/algorithm.ts'
import { CRITIC } from '../../rl/config/critic.ts'
import { defaultsOf } from '../../rl/fields/field.ts'
import { newPhase, parseExperiment, withField } from './experiment.ts'
import { resolvePhases } from './resolve.ts'
import { edited, issues, parsed } from './testing.ts'

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

test('a negative zero is read as zero, which a link writes alike', () => {
  const { actor } = parsed({ actor: { policy_loss: { clip_cov_ub: -0 } } })
  expect(Object.is(actor.policy_loss.clip_cov_ub, 0)).toBe(true)
})

test('every refusal names the field and the legal values', () => {
  expect(issues({ actor: { clip_ratio_low: 7 } })).toEqual([
    'actor.clip_ratio_low: expected a number from 0.001 to 0.99, got 7',
  ])
  expect(issues({ seed: 1.5 })).toEqual([
    'seed: expected a whole number from 0 to 4294967295, got 1.5',
  ])
  expect(issues({ actor: { use_torch_compile: true } })[0]).toMatch(
    /^actor.use_torch_compile: unknown or not yet supported; legal here: .*ppo_mini_batch_size, .*entropy_coeff/,
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
    "phases.0.kind: expected 'sft' or 'reward_model' or 'preference' or 'distill' or 'rl', got 'dpo'",
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
    /^actor.ppo_mini_batch_size: expected a divisor of rollout.train_batch_size \(24\), because/,
  )
  expect(issues({ rollout: { n: 1 } })[0]).toBe(
    'rollout.n: expected at least 2 responses per prompt, because GRPO compares them; got 1',
  )
  expect(issues({ rollout: { top_k: 0 } })).toHaveLength(1)
  expect(issues({ validation: { temperature: 0.05, n: 32 } })).toEqual([])
  expect(issues({ validation: { temperature: 0.01 } })[0]).toMatch(
    /^validation.temperature: expected a number from 0.05 to 5, or null, got 0.0/,
  )
  expect(issues({ rollout: { max_response_length: 3 } })[0]).toMatch(/at least 4, because/)
  expect(issues({ phases: [{ kind: 'rl', target_layer: 7 }] })[0]).toMatch(
    /^phases.0.target_layer: expected 'final' or an inner layer of the model, 1 to 5; got 7/,
  )
  // A phase's own setting is named as its own.
  expect(issues({ phases: [{ kind: 'rl', rollout: { n: 1 } }] })[0]).toMatch(/^phases.0.rollout.n:/)
})

test('a shared setting that no phase uses unchanged may break a rule of phases', () => {
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

test('a phase says how it reads its layer, where that is not the paper’s way', () => {
  const readouts = ['raw', 'normed', 'tuned', 'jacobian']
  const phases = readouts.map((target_readout) => ({ kind: 'rl', target_layer: 2, target_readout }))
  expect(resolvePhases(parsed({ phases })).map(({ name }) => name)).toEqual([
    'layer 2',
    'layer 2, through the final norm',
    'layer 2, through a tuned lens',
    'layer 2, through a Jacobian lens',
  ])
})

test('an experiment that says nothing trains with the defaults of the engine', () => {
  const [, phase] = resolvePhases(parsed({}))
  if (phase.kind !== 'rl') throw new Error('expected a phase of reinforcement learning')
  expect(phase.actor).toMatchObject(ACTOR_DEFAULTS)
  expect(phase.critic).toEqual(defaultsOf(CRITIC))
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

test('the phases of one experiment are resolved once', () => {
  const experiment = parsed({})
  expect(resolvePhases(experiment)).toBe(resolvePhases(experiment))
  expect(resolvePhases({ ...experiment })).toEqual(resolvePhases(experiment))
})
