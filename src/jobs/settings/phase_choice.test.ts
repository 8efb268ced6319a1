import { expect, test } from 'vitest'
import { parsed } from '../../document/experiment/testing.ts'
import { isOver } from './phase_choice.ts'

test('a run that took all its steps has no phase to come, whatever it warmed up with', () => {
  const experiment = parsed({
    phases: [
      { kind: 'rl', target_layer: 2, steps: 4 },
      { kind: 'rl', steps: 41 },
    ],
  })
  const at = (phase: number, phase_step: number) => isOver(experiment, { phase, phase_step })
  expect([at(0, 4), at(1, 40), at(1, 41)]).toEqual([false, false, true])
})
