// Settings that leave a run which was steered by hand.
import { expect, test } from 'vitest'
import { steerExperiment } from '../../document/experiment/experiment.ts'
import { plannedTotal } from '../../document/experiment/steered/planned.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { decodeLink, encodeLink } from '../../document/links/link.ts'
import { nextExperiment, runSoFar } from '../state/next_experiment.ts'
import { type LabState, labStore } from '../state/store.ts'
import { train } from './controls.ts'
import { editField, removePhase } from './edits.ts'
import { draw, openPage, port, withTestPages } from './testing.ts'

withTestPages()

const LR = 'actor.optim.lr'
const lengths = (phases: readonly { readonly steps: number }[]) => phases.map(({ steps }) => steps)

/** A run of 66 and 100 steps, steered like this and then over; what its worker says is what
 * steering makes of it. */
function steeredToTheEnd(done: readonly SteeringEntry[], begins: readonly PhaseBegin[]) {
  openPage('v=1&p=tiny')
  const [warm, , last] = labStore.getState().experiment.phases
  const phases = [warm, { ...last, steps: 100 }]
  expect(editField('phases', phases)).toBeUndefined()
  train()
  port().says({ type: 'status', run: 1, status: 'running' })
  const whole = { step: 0, phase: 0, reason: 'start' } as const
  for (const begin of [whole, { step: 66, phase: 1, reason: 'steps' } as const])
    port().says({ type: 'phase', run: 1, ...begin })
  draw()
  for (const [i, entry] of done.entries()) {
    const { runExperiment } = labStore.getState()
    if (!runExperiment) throw new Error('no run')
    const steered = steerExperiment(runExperiment, entry, 1, entry.step - 66)
    if (!steered.ok) throw new Error(steered.message)
    const { experiment } = steered
    port().says({ type: 'steered', run: 1, entry, experiment, steering: done.slice(0, i + 1) })
    draw()
  }
  for (const begin of begins) port().says({ type: 'phase', run: 1, ...begin })
  draw()
  return () => {
    port().says({ type: 'status', run: 1, status: 'finished' })
    draw()
    labStore.setState({ step: 186, phase: 3, phase_step: 58 })
  }
}

type PhaseBegin = LabState['phase_switches'][number]

const inserted = () => {
  const last = labStore.getState().experiment.phases[2]
  return { ...last, name: 'inserted', steps: 20 }
}

const INSERTED: readonly PhaseBegin[] = [
  { step: 108, phase: 2, reason: 'insert_phase' },
  { step: 128, phase: 3, reason: 'steps' },
]

/** Changes the rate after step 78, and begins a phase after step 108 with the rest of the present
 * one after it. */
function interruptedRun() {
  openPage('v=1&p=tiny')
  return steeredToTheEnd(
    [
      { step: 78, kind: 'set', path: LR, value: 0.0015 },
      { step: 108, kind: 'interrupt_phase', phase: inserted() },
    ],
    INSERTED,
  )
}

test('an edit after a run in which a phase was begun at once leaves its phases as long as they were, in the link too', () => {
  interruptedRun()()
  expect(lengths(nextExperiment(labStore.getState()).phases)).toEqual([66, 100])
  expect(editField(LR, 0.002)).toBeUndefined()
  const { experiment } = labStore.getState()
  expect(lengths(experiment.phases)).toEqual([66, 42, 20, 58])
  expect(nextExperiment(labStore.getState())).toBe(experiment)
  const { experiment: read } = decodeLink(encodeLink(experiment))
  expect(lengths(read.phases)).toEqual([66, 42, 20, 58])
  // 66 + 42 + 20 + 58 steps, and not 244.
  expect(plannedTotal(runSoFar(labStore.getState()))).toBe(186)
  // Back at the run's value, they are the settings of the run.
  expect(editField(LR, 0.0015)).toBeUndefined()
  expect(labStore.getState().experiment).toBe(labStore.getState().runExperiment)
})

test('a length that a person gives a phase after the run holds, and so does a list that they make', () => {
  interruptedRun()()
  expect(editField('phases.1.steps', 70)).toBeUndefined()
  expect(lengths(labStore.getState().experiment.phases)).toEqual([66, 70, 20, 58])
  expect(editField('phases.1.steps', 100)).toBeUndefined()
  expect(lengths(labStore.getState().experiment.phases)).toEqual([66, 100, 20, 58])
  interruptedRun()()
  expect(removePhase(2)).toBeUndefined()
  expect(lengths(labStore.getState().experiment.phases)).toEqual([66, 42, 58])
})

test('settings that leave a run while it trains have its lengths, for a restart and at its end', () => {
  const finish = interruptedRun()
  expect(editField('rollout.n', 16)).toBeUndefined()
  const next = nextExperiment(labStore.getState())
  expect(lengths(next.phases)).toEqual([66, 42, 20, 58])
  expect(nextExperiment(labStore.getState())).toBe(next)
  finish()
  expect(lengths(labStore.getState().experiment.phases)).toEqual([66, 42, 20, 58])
})

test('a phase that was skipped is no part of the plan any more', () => {
  openPage('v=1&p=tiny')
  const phase = inserted()
  steeredToTheEnd(
    [
      { step: 108, kind: 'insert_phase', phase },
      { step: 108, kind: 'append_phase', phase: { ...phase, steps: 58 } },
    ],
    [
      { step: 108, phase: 2, reason: 'insert_phase' },
      { step: 108, phase: 3, reason: 'next_phase' },
    ],
  )()
  expect(editField(LR, 0.002)).toBeUndefined()
  expect(lengths(labStore.getState().experiment.phases)).toEqual([66, 42, 58])
})
