import { expect, test } from 'vitest'

import {
  type Experiment,
  experimentFields,
  newPhase,
  parseExperiment,
  resolvePhases,
  withField,
} from './experiment.ts'

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
  expect(issues({ actor: { use_kl_loss: true } })[0]).toMatch(
    /^actor.use_kl_loss: unknown or not yet supported; legal here: ppo_mini_batch_size, .*entropy_coeff/,
  )
  expect(issues({ critic: { lr: 1 } })[0]).toMatch(
    /^critic: unknown or not yet supported; legal here: /,
  )
  expect(issues({ task: { id: 'chess' } })[0]).toMatch(
    /^task.id: expected 'two_skills_addition' or .*, got 'chess'$/,
  )
  expect(issues({ task: { id: 'sort_digits', length: 99 } })).toEqual([
    'task.length: expected a whole number from 2 to 8, got 99',
  ])
  expect(issues({ phases: [{ kind: 'reward_model' }] })).toEqual([
    "phases.0.kind: expected 'sft' or 'rl', got 'reward_model'",
  ])
  expect(issues({ phases: [{ kind: 'rl', adv_estimator: 'gae' }] })).toEqual([
    "phases.0.adv_estimator: expected 'grpo', got 'gae'",
  ])
  expect(issues({ phases: [] })).toEqual(['phases: expected at least one phase'])
  expect(issues({ version: 2 })).toEqual(['version: expected version 1, got 2'])
  expect(issues({ rollout: { temperature: Number.NaN } })[0]).toMatch(/^rollout.temperature: /)
  expect(issues({ name: 'a\u0000b' })).toHaveLength(1)
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
    { phases: Array(9).fill({ kind: 'sft' }) },
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
    expect(field.live, field.path).toBe(false)
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
    'actor.use_kl_loss',
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
  expect(withField(experiment, 'phases', [])).toEqual({
    ok: false,
    message: 'phases: expected at least one phase',
  })
})

test('a document may state the verl settings that have one value here, and no other value of them', () => {
  const stated = {
    critic: {},
    actor: { use_kl_loss: false },
    algorithm: { gamma: 1, lam: 1, use_kl_in_reward: false, norm_adv_by_std_in_grpo: false },
  }
  const parsed = parseExperiment(stated)
  expect(parsed.ok && parsed.experiment.algorithm).toEqual({ norm_adv_by_std_in_grpo: false })
  expect(parseExperiment({ algorithm: { gamma: 0.9 } })).toMatchObject({
    ok: false,
    issues: [{ path: 'algorithm.gamma' }],
  })
  expect(parseExperiment({ critic: { lr: 1 } }).ok).toBe(false)
})
