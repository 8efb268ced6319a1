// What was done to a run by hand becomes settings that hold from the first step.
import { expect, test } from 'vitest'
import { plannedCosts } from '../costs/costs.ts'
import { newPhase } from '../experiment.ts'
import type { SteeringEntry } from '../steering/actions.ts'
import { parsed } from '../testing.ts'
import { asSettings } from './as_settings.ts'

const PHASES = [
  { kind: 'sft', steps: 4 },
  { kind: 'rl', steps: 18 },
]
const steered = (...steering: SteeringEntry[]) => parsed({ phases: PHASES, steering })
const lengths = (...steering: SteeringEntry[]) =>
  asSettings(steered(...steering)).phases.map(({ kind, steps }) => `${kind} ${steps}`)

test('phases that were inserted, ended early or skipped are phases like others, and all are counted', () => {
  const phase = { ...newPhase('rl'), steps: 4 }
  const inserted = { step: 13, kind: 'interrupt_phase', phase } as const
  expect(lengths(inserted)).toEqual(['sft 4', 'rl 9', 'rl 4', 'rl 9'])
  expect(lengths({ step: 2, kind: 'next_phase' })).toEqual(['sft 2', 'rl 18'])
  expect(lengths({ step: 0, kind: 'next_phase' })).toEqual(['rl 18'])
  const [own, plain] = [asSettings(steered(inserted)), parsed({ phases: PHASES })]
  expect(own.steering).toEqual([])
  expect(plannedCosts(own).responses).toBe((plannedCosts(plain).responses * 22) / 18)
})

test('a field that was changed on the way begins as it did and changes after the same step', () => {
  const { lr } = parsed({ phases: PHASES }).actor.optim
  const set = { step: 6, kind: 'set', path: 'actor.optim.lr', value: 0.002 } as const
  const kernels = { step: 5, kind: 'kernels', kernels: 'default' } as const
  const phase = { ...newPhase('rl'), steps: 4 }
  const changed = asSettings(steered(kernels, set))
  expect([changed.actor.optim.lr, changed.steering]).toEqual([lr, [set]])
  expect(changed.phases.map(({ steps }) => steps)).toEqual([4, 18])
  const inserted = asSettings(steered(set, { step: 13, kind: 'interrupt_phase', phase }))
  expect([inserted.actor.optim.lr, inserted.steering]).toEqual([lr, [set]])
  expect(inserted.phases.map(({ steps }) => steps)).toEqual([4, 9, 4, 9])
})

test('a field of a phase is set where that phase lies now, and not where it began with it', () => {
  const set = (step: number, path: string) => ({ step, kind: 'set', path, value: 0.002 }) as const
  const skip = { step: 0, kind: 'next_phase' } as const
  const during = asSettings(steered(skip, set(6, 'phases.1.actor.optim.lr')))
  expect(during.phases.map(({ kind }) => kind)).toEqual(['rl'])
  expect(during.steering).toEqual([set(6, 'phases.0.actor.optim.lr')])
  const beforehand = asSettings(
    steered(set(2, 'phases.1.actor.optim.lr'), { step: 3, kind: 'next_phase' }),
  )
  expect(beforehand.steering).toEqual([])
  expect(beforehand.phases[1]).toMatchObject({ actor: { optim: { lr: 0.002 } } })
})

test('settings without changes are the same', () => {
  const plain = parsed({ phases: PHASES })
  expect(asSettings(plain)).toBe(plain)
})
