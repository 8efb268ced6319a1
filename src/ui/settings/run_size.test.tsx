// The size of a run counts the steps that it takes, with what is done to it by hand.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { newPhase, steerExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { parsed } from '../../document/experiment/testing.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { RunSize } from './RunSize.tsx'

afterEach(() => vi.restoreAllMocks())

function tokens(experiment: Experiment, run: Partial<LabState> = {}): string | undefined {
  const state = { ...initialState(), experiment, ...run }
  vi.spyOn(labStore, 'getInitialState').mockReturnValue(state)
  vi.spyOn(labStore, 'getState').mockReturnValue(state)
  return /at most (\S+) tokens/.exec(renderToStaticMarkup(<RunSize />))?.[1]
}

test('a phase that another one interrupts has its steps once, in the run and after a reset', () => {
  const action = { kind: 'interrupt_phase', phase: { ...newPhase('rl'), steps: 4 } } as const
  const plain = parsed({ phases: [{ kind: 'rl', steps: 45 }] })
  const whole = parsed({ phases: [{ kind: 'rl', steps: 49 }] })
  const document = parsed({ ...plain, steering: [{ step: 24, ...action }] })
  const steered = steerExperiment(plain, action, 0, 24)
  if (!steered.ok) throw new Error(steered.message)
  const { experiment } = steered
  expect(experiment.phases.map(({ steps }) => steps)).toEqual([45, 4, 21])
  const run = { status: 'running', runExperiment: experiment, runDocument: document } as const
  expect(tokens(experiment, run)).toBe(tokens(whole))
  expect(tokens(document)).toBe(tokens(whole))
  expect(tokens(plain)).not.toBe(tokens(whole))
})

test('arithmetic has the unit that people write, and the unit says what it is', () => {
  const state = { ...initialState(), experiment: parsed({ phases: [{ kind: 'rl', steps: 45 }] }) }
  vi.spyOn(labStore, 'getInitialState').mockReturnValue(state)
  expect(renderToStaticMarkup(<RunSize />)).toMatch(
    /title="1 [GT]FLOP is 10.+ floating-point operations: .* and [\d.]+ [GT]FLOP\.</,
  )
})
