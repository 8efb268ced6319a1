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

test('a field that was changed on the way is as it was left; settings without changes are the same', () => {
  const changed = asSettings(
    steered({ step: 6, kind: 'set', path: 'actor.optim.lr', value: 0.002 }),
  )
  expect(changed.actor.optim.lr).toBe(0.002)
  expect(changed.phases.map(({ steps }) => steps)).toEqual([4, 18])
  const plain = parsed({ phases: PHASES })
  expect(asSettings(plain)).toBe(plain)
})
