import { describe, expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../links/link.ts'
import { PRESETS } from '../../presets/presets.ts'
import { resolvePhases } from '../resolve.ts'
import type { Experiment } from '../schema/schema.ts'
import { parsed } from '../testing.ts'
import { experimentFields } from './form.ts'
import { remarksOf } from './remarks.ts'

const fieldOf = (experiment: Experiment, path: string) =>
  experimentFields(experiment).find((field) => field.path === path)

test('a preset does what it says', () => {
  for (const { id, experiment } of PRESETS) expect(remarksOf(experiment), id).toEqual([])
})

describe('more held-out prompts than a task holds out', () => {
  const task = { id: 'reverse_digits', length: 2 }

  test('stay in the document and in its link, and the form says how many are asked', () => {
    const experiment = parsed({ task })
    expect(experiment.validation.prompts).toBe(512)
    const [{ path, message }] = remarksOf(experiment)
    expect(path).toBe('validation.prompts')
    expect(message).toContain('holds out 20 problems')
    expect(fieldOf(experiment, path)?.remark).toBe(message)
    const { experiment: back, notices } = decodeLink(encodeLink(experiment))
    expect([back.validation.prompts, notices]).toEqual([512, []])
  })

  test('are no matter where nothing is evaluated, or the task has as many', () => {
    expect(remarksOf(parsed({ task, validation: { test_freq: null } }))).toEqual([])
    expect(remarksOf(parsed({ task, validation: { prompts: 20 } }))).toEqual([])
    const once = { test_freq: null, val_before_train: 'enable' }
    expect(remarksOf(parsed({ task, validation: once }))).toHaveLength(1)
    expect(fieldOf(parsed({}), 'validation.prompts')?.remark).toBeUndefined()
  })
})

test('importance weights of the clipped PPO in bypass mode are only measured', () => {
  const correction = { bypass_mode: true, rollout_is: 'token' }
  const path = 'algorithm.rollout_correction.rollout_is'
  const shared = parsed({
    phases: [{ kind: 'rl' }],
    algorithm: { rollout_correction: correction },
    validation: { prompts: 20 },
  })
  expect(remarksOf(shared)).toEqual([{ path, message: expect.stringContaining('only measured') }])
  expect(fieldOf(shared, path)?.remark).toContain('the ratio of the clipped PPO')
  const own = { kind: 'rl', algorithm: { rollout_correction: correction } }
  expect(remarksOf(parsed({ phases: [own] })).map((remark) => remark.path)).toEqual([
    `phases.0.${path}`,
  ])
  const weighed = { ...correction, loss_type: 'reinforce' }
  const phases = [{ ...own, algorithm: { rollout_correction: weighed } }]
  expect(remarksOf(parsed({ phases }))).toEqual([])
})

describe('the warm-up of a later phase', () => {
  const own = { kind: 'rl', actor: { optim: { lr_warmup_steps: 7 } } }
  const warmup = 'phases.1.actor.optim.lr_warmup_steps'

  test('is offered where a schedule begins, and nowhere else', () => {
    const offered = (phases: object[]) => fieldOf(parsed({ phases }), warmup)?.hasEffect
    expect(offered([{ kind: 'sft' }, own])).toBe(true)
    expect(offered([{ kind: 'rl' }, own])).toBe(false)
    expect(offered([{ kind: 'rl' }, { ...own, reset_schedule: true }])).toBe(true)
    // Of two warm starts the second continues too.
    const sft = parsed({ phases: [{ kind: 'sft' }, { kind: 'sft' }] })
    expect(fieldOf(sft, 'phases.0.optim.lr_warmup_steps')?.hasEffect).toBe(true)
    expect(fieldOf(sft, 'phases.1.optim.lr_warmup_steps')?.hasEffect).toBe(false)
    expect(fieldOf(sft, 'phases.1.optim.lr')?.hasEffect).toBe(true)
  })

  test('that changes nothing is said beside the switch that makes it count', () => {
    const [remark, ...rest] = remarksOf(parsed({ phases: [{ kind: 'rl' }, own] }))
    expect(rest).toEqual([])
    expect(remark.path).toBe('phases.1.reset_schedule')
    expect(remark.message).toContain(
      'Phase 2 has a warm-up of its own (7 steps), which has no effect',
    )
    expect(
      remarksOf(parsed({ phases: [{ kind: 'rl' }, { ...own, reset_schedule: true }] })),
    ).toEqual([])
  })

  test('is said too where it is a share of the steps', () => {
    const share = { lr_warmup_steps: null, lr_warmup_steps_ratio: 0.1 }
    const phases = [{ kind: 'rl' }, { kind: 'rl', actor: { optim: share } }]
    expect(remarksOf(parsed({ phases })).map(({ message }) => message)).toEqual([
      expect.stringContaining('a warm-up of its own (a share of its steps), which has no effect'),
    ])
  })

  test('the switch is offered after a phase of reinforcement, and reaches the trainer', () => {
    const phases = [{ kind: 'sft' }, { kind: 'rl' }, { ...own, reset_schedule: true }]
    const experiment = parsed({ phases })
    expect(fieldOf(experiment, 'phases.1.reset_schedule')?.hasEffect).toBe(false)
    expect(fieldOf(experiment, 'phases.2.reset_schedule')?.hasEffect).toBe(true)
    expect(
      resolvePhases(experiment).map((phase) => phase.kind === 'rl' && phase.reset_schedule),
    ).toEqual([false, false, true])
  })
})
