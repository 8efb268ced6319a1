import { describe, expect, test } from 'vitest'
import { followExperiment, steerExperiment } from '../experiment.ts'
import { experimentFields } from '../form/form.ts'
import type { Experiment } from '../schema/schema.ts'
import { issuesOf as issues, parsed } from '../testing.ts'
import type { SteeringAction } from './actions.ts'
import { steeringWords } from './words.ts'

const SFT = { kind: 'sft', steps: 10 }
const PPO = { kind: 'rl', steps: 5, adv_estimator: 'gae', name: 'ppo' }
const GRPO = { kind: 'rl', steps: 5, name: 'grpo' }
const REWARD = { kind: 'reward_model', steps: 5, name: 'reward' }
const INNER = { kind: 'rl', steps: 4, target_layer: 2, name: 'inner' }
const base = { phases: [SFT, PPO, GRPO] }
const experiment = parsed(base)
const [, grpoPhase] = parsed({ phases: [SFT, GRPO] }).phases

const names = ({ phases }: Experiment) => phases.map(({ name, kind }) => name || kind).join(' ')

test('kernels of matrix products change, and nothing else of the experiment', () => {
  const steer = (kernels: string) => steerExperiment(experiment, { kind: 'kernels', kernels }, 1, 1)
  expect(steer('nt_m8_n32_k16:skinny_8x16')).toEqual({ ok: true, experiment })
  expect(steer('nt_m8_n32_k16:tile_9x9')).toMatchObject({ ok: false, at: 'kernels' })
  const action = { kind: 'kernels', kernels: 'nt_m8_n32_k16:skinny_8x16,*:vector_8x8' } as const
  expect(steeringWords(action)).toBe('other kernels for 2 sizes of matrix products')
})

describe('what an action makes of the list of phases', () => {
  const listAfter = (action: SteeringAction, present = 1) => {
    const result = steerExperiment(experiment, action, present, 1)
    return result.ok ? [names(result.experiment), result.ends] : `${result.at}: ${result.message}`
  }
  test.each<[SteeringAction, unknown]>([
    [{ kind: 'next_phase' }, ['sft ppo grpo', 'next_phase']],
    [
      { kind: 'insert_phase', phase: { ...grpoPhase, name: 'new' } },
      ['sft ppo new grpo', 'insert_phase'],
    ],
    [
      { kind: 'interrupt_phase', phase: { ...grpoPhase, name: 'new' } },
      ['sft ppo new ppo grpo', 'insert_phase'],
    ],
    [
      { kind: 'follow_phase', phase: { ...grpoPhase, name: 'new' } },
      ['sft ppo new grpo', undefined],
    ],
    [{ kind: 'repeat_phase' }, ['sft ppo ppo grpo', undefined]],
    [
      { kind: 'append_phase', phase: { ...grpoPhase, name: 'new' } },
      ['sft ppo grpo new', undefined],
    ],
    [{ kind: 'remove_phase', index: 2 }, ['sft ppo', undefined]],
  ])('%j', (action, expected) => {
    expect(listAfter(action)).toEqual(expected)
  })

  test('phases that have begun stay as they are', () => {
    expect(listAfter({ kind: 'remove_phase', index: 1 })).toMatch(
      /^index: expected a phase that has not begun \(2 to 2\)/,
    )
    expect(listAfter({ kind: 'move_phase', index: 2, to: 1 })).toMatch(/^to: expected a phase/)
    expect(listAfter({ kind: 'move_phase', index: 1, to: 2 }, 0)).toEqual([
      'sft grpo ppo',
      undefined,
    ])
  })

  test('a phase that is interrupted continues with the steps that it had left, and with none where it had none', () => {
    const action = { kind: 'interrupt_phase', phase: grpoPhase } as const
    const { steps } = experiment.phases[1]
    const stepsAfter = (taken: number) => {
      const result = steerExperiment(experiment, action, 1, taken)
      return result.ok ? result.experiment.phases.map((phase) => phase.steps) : result.message
    }
    const [first, , last] = experiment.phases.map((phase) => phase.steps)
    expect(stepsAfter(1)).toEqual([first, steps, grpoPhase.steps, steps - 1, last])
    expect(stepsAfter(steps)).toEqual([first, steps, grpoPhase.steps, last])
    const taught = parsed({ phases: [SFT, REWARD, GRPO] })
    expect(steerExperiment(taught, action, 1, 2)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/would start again/),
    })
    expect(steerExperiment(taught, action, 1, 0)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/never taught/),
    })
    expect(steerExperiment(taught, { ...action, kind: 'follow_phase' }, 1, 0).ok).toBe(true)
  })

  test('a reward model is taught before its phase ends or is repeated', () => {
    const taught = parsed({ phases: [SFT, REWARD, { ...GRPO, reward_model: { enable: true } }] })
    const act = (action: SteeringAction, taken: number) => {
      const result = steerExperiment(taught, action, 1, taken)
      return result.ok ? names(result.experiment) : `${result.at}: ${result.message}`
    }
    expect(act({ kind: 'next_phase' }, 0)).toBe(
      ': expected at least one step of phase 2 (reward_model) before it, because a reward model that was never taught would reward at random; got none yet',
    )
    expect(act({ kind: 'insert_phase', phase: grpoPhase }, 0)).toMatch(/never taught/)
    expect(act({ kind: 'repeat_phase' }, 0)).toMatch(/once it has begun to train/)
    expect(act({ kind: 'append_phase', phase: grpoPhase }, 0)).toBe('sft reward grpo grpo')
    expect(act({ kind: 'next_phase' }, 1)).toBe('sft reward grpo')
    expect(act({ kind: 'repeat_phase' }, 1)).toBe('sft reward reward grpo')
  })

  test('what a reward model rewards comes after one', () => {
    const phase = parsed({ phases: [REWARD, { ...GRPO, reward_model: { enable: true } }] })
      .phases[1]
    expect(listAfter({ kind: 'append_phase', phase })).toMatch(
      /^phase: phases\.3\.reward_model\.enable: expected false, because no earlier phase of kind reward_model/,
    )
    const [reward] = parsed({ phases: [REWARD] }).phases
    const withReward = steerExperiment(experiment, { kind: 'insert_phase', phase: reward }, 1, 1)
    if (!withReward.ok) throw new Error(withReward.message)
    expect(names(withReward.experiment)).toBe('sft ppo reward grpo')
    const last = steerExperiment(withReward.experiment, { kind: 'append_phase', phase }, 2, 1)
    expect(last.ok).toBe(true)
    // Without it, what it would reward cannot stay.
    if (!last.ok) return
    const removed = steerExperiment(last.experiment, { kind: 'remove_phase', index: 2 }, 1, 1)
    expect(removed).toMatchObject({ ok: false, message: expect.stringMatching(/reward_model/) })
  })

  test('a list that breaks a rule is refused with the reason', () => {
    const phase = { ...grpoPhase, rollout: { n: 1 } } as never
    expect(listAfter({ kind: 'insert_phase', phase })).toMatch(
      /^phase: phases\.2\.rollout\.n: expected at least 2 responses/,
    )
  })
})

describe('which fields may change during a run', () => {
  const set = (path: string, value: string | number | boolean | null, present = 1) => {
    const result = steerExperiment(experiment, { kind: 'set', path, value }, present, 1)
    return result.ok ? 'ok' : `${result.at}: ${result.message}`
  }
  test.each([
    ['actor.optim.lr', 0.001],
    ['actor.clip_ratio_high', 0.3],
    ['actor.kl_loss_coef', 0.01],
    ['actor.entropy_coeff', 0.01],
    ['actor.optim.betas.1', 0.99],
    ['rollout.temperature', 0.7],
    ['rollout.top_k', 5],
    ['rollout.top_p', 0.9],
    ['validation.test_freq', 3],
    ['validation.temperature', 0.5],
    ['validation.log_val_generations', 0],
    ['phases.1.steps', 7],
    ['phases.1.actor.optim.lr', 0.01],
    ['phases.1.stop.score', 0.5],
    // A phase that has not begun is free.
    ['phases.2.adv_estimator', 'rloo'],
    ['phases.2.rollout.n', 4],
  ])('%s', (path, value) => {
    expect(set(path, value)).toBe('ok')
  })
  test.each([
    ['model.hidden_size', 32],
    ['seed', 3],
    ['rollout.n', 4],
    ['actor.ppo_mini_batch_size', 8],
    ['actor.loss_mode', 'gspo'],
    ['phases.1.adv_estimator', 'grpo'],
    ['phases.0.steps', 20],
    ['task.id', 'sort_digits'],
  ])('not %s', (path, value) => {
    expect(set(path, value)).toMatch(/^path: expected a field that may change during a run/)
  })
  test('an unknown path and a bad value are refused at their place', () => {
    expect(set('actor.nothing', 1)).toBe("path: expected the path of a field, got 'actor.nothing'")
    expect(set('actor.optim.lr', 7)).toMatch(/^value: actor\.optim\.lr: expected a number from/)
  })
  test('every live field is a number that each step reads again', () => {
    const live = experimentFields(experiment).filter((field) => field.live)
    expect(live.length).toBeGreaterThan(20)
    for (const field of live) expect(field.kind, field.path).toMatch(/^(number|integer)$/)
  })
})

describe('which settings of a teacher may change during a run', () => {
  const model = { hidden_size: 64, source: `sha256-${'1'.repeat(64)}`, source_name: 'larger' }
  const distill = { kind: 'distill', target_layer: 1, distillation: { teacher: 'ema' } }
  const set = (path: string, value: string | number, document: object = {}) => {
    const taught = parsed({
      ...base,
      teacher: model,
      phases: [SFT, distill, distill, GRPO],
      ...document,
    })
    const result = steerExperiment(taught, { kind: 'set', path, value }, 1, 1)
    return result.ok ? 'ok' : `${result.at}: ${result.message}`
  }
  test.each([
    ['phases.1.distillation.beta', 0],
    ['phases.1.distillation.temperature', 2],
    ['phases.1.distillation.lmbda', 0.5],
    ['phases.1.distillation.ema_decay', 0.5],
    ['algorithm.opd_kl_coef', 0.5],
    // A phase that has not begun is free.
    ['phases.2.distillation.teacher', 'model'],
    ['phases.3.algorithm.opd_kl_coef', 1],
  ])('%s', (path, value) => {
    expect(set(path, value)).toBe('ok')
  })
  test.each([
    ['phases.1.distillation.teacher', 'model'],
    ['phases.1.target_layer', 2],
    ['teacher.hidden_size', 32],
    ['teacher.source', `sha256-${'2'.repeat(64)}`],
  ])('not %s', (path, value) => {
    expect(set(path, value)).toMatch(/^path: expected a field that may change during a run/)
  })
  test('none is asked for that the run does not have', () => {
    const without = { teacher: {} }
    expect(set('algorithm.opd_kl_coef', 1, without)).toMatch(/because no other model is named/)
    expect(set('phases.2.distillation.teacher', 'model', without)).toMatch(
      /no other model is named/,
    )
  })
})

describe('a document whose steering cannot be obeyed says where and what to do', () => {
  const steered = (...steering: unknown[]) => issues({ ...base, steering })
  test.each<[string, unknown[], RegExp, string?]>([
    ['no list', [7], /expected an object whose kind is 'next_phase' or/, 'steering.0'],
    [
      'unknown kind',
      [{ step: 1, kind: 'explode' }],
      /expected 'next_phase' or .* got 'explode'/,
      'steering.0.kind',
    ],
    ['a part too many', [{ step: 1, kind: 'next_phase', phase: 1 }], /legal here: kind, step/],
    ['no step', [{ kind: 'next_phase' }], /expected a whole number of steps from 0, got nothing/],
    [
      'a broken phase',
      [{ step: 1, kind: 'insert_phase', phase: { kind: 'rl', steps: 0 } }],
      /expected a whole number from 1/,
      'steering.0.phase.steps',
    ],
    [
      'order',
      [
        { step: 5, kind: 'next_phase' },
        { step: 4, kind: 'next_phase' },
      ],
      /expected at least 5, because entries are in the order/,
      'steering.1.step',
    ],
    [
      'after the end',
      [{ step: 21, kind: 'next_phase' }],
      /expected at most 20, because the run ends there; got 21\. Lengthen a phase/,
      'steering.0.step',
    ],
    [
      'a phase that has begun by then',
      [{ step: 11, kind: 'remove_phase', index: 1 }],
      /expected a phase that has not begun \(2 to 2\)/,
      'steering.0.index',
    ],
    [
      'a field that needs a restart',
      [{ step: 3, kind: 'set', path: 'rollout.n', value: 4 }],
      /rollout\.n needs a new run/,
      'steering.0.path',
    ],
  ])('%s', (_, entries, message, path) => {
    const [issue] = steered(...entries)
    expect(issue?.message).toMatch(message)
    if (path) expect(issue.path).toBe(path)
  })

  test('ending phases by hand moves the end of the run', () => {
    // 3 of 10, then 5 + 5 more: the run ends after 13.
    const next = { step: 3, kind: 'next_phase' }
    expect(steered(next, { step: 13, kind: 'append_phase', phase: INNER })).toEqual([])
    expect(steered(next, { step: 14, kind: 'next_phase' })[0].message).toMatch(/at most 13/)
    expect(
      steered(
        next,
        { step: 13, kind: 'append_phase', phase: INNER },
        { step: 17, kind: 'repeat_phase' },
      ),
    ).toEqual([])
  })

  test('a reward model that begins the run is not left untaught', () => {
    const phases = [REWARD, { ...GRPO, reward_model: { enable: true } }]
    const next = (step: number) => issues({ phases, steering: [{ step, kind: 'next_phase' }] })
    expect(next(0)).toMatchObject([
      { path: 'steering.0', message: expect.stringMatching(/never taught/) },
    ])
    expect(next(1)).toEqual([])
  })

  test('where a condition may end a phase early, nothing is said of what comes later', () => {
    const stop = { score: 0.9 }
    const phases = [SFT, { ...GRPO, stop }]
    const later = [{ step: 90, kind: 'next_phase' }]
    expect(issues({ phases, steering: later })).toEqual([])
    expect(issues({ phases: [SFT, GRPO], steering: later })).toHaveLength(1)
  })
})

test('the experiments of a run follow its entries', () => {
  const { experiments } = followExperiment(
    parsed({
      ...base,
      steering: [
        { step: 2, kind: 'set', path: 'phases.0.steps', value: 4 },
        { step: 5, kind: 'insert_phase', phase: INNER },
        { step: 6, kind: 'repeat_phase' },
      ],
    }),
  )
  expect(experiments.map(names)).toEqual([
    'sft ppo grpo',
    'sft ppo grpo',
    'sft ppo inner grpo',
    'sft ppo inner inner grpo',
  ])
  expect(experiments[1].phases[0].steps).toBe(4)
  expect(experiments.every(({ steering }) => steering.length === 0)).toBe(true)
})

test('every action has words', () => {
  expect(steeringWords({ kind: 'set', path: 'actor.optim.lr', value: 0.001 })).toBe('lr 0.001')
  expect(steeringWords({ kind: 'set', path: 'phases.1.actor.optim.lr', value: null })).toBe(
    'phase 2 lr as default',
  )
  expect(steeringWords({ kind: 'insert_phase', phase: grpoPhase })).toBe('began grpo')
  expect(steeringWords({ kind: 'interrupt_phase', phase: grpoPhase })).toBe('began grpo')
  expect(steeringWords({ kind: 'follow_phase', phase: grpoPhase })).toBe(
    'added grpo after the present phase',
  )
  const inner = { kind: 'rl', adv_estimator: 'reinforce_plus_plus', target_layer: 2 }
  const [phase, ppo] = parsed({
    phases: [inner, { kind: 'rl', adv_estimator: 'gae' }],
  }).phases
  expect(steeringWords({ kind: 'insert_phase', phase })).toBe('began BuPO (REINFORCE++), layer 2')
  expect(steeringWords({ kind: 'append_phase', phase: ppo })).toBe('added PPO, whole model')
})
