// The course of a run counts its phases and what a person did.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { OPENING } from '../../document/presets/presets.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { presentStore } from '../shown/shown.ts'
import { Record } from './Record.tsx'

afterEach(() => vi.restoreAllMocks())

test('one phase is no phases, and one change no changes', () => {
  // Static markup shows what a store began with.
  for (const store of [labStore, presentStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  const drawn = (phases: number, changes: number) => {
    const phase_switches = Array.from({ length: phases }, (_, phase) => ({
      phase,
      step: phase,
      reason: 'steps',
    })) as unknown as LabState['phase_switches']
    const set = { kind: 'set', path: 'actor.optim.lr', value: 0.003 } as const
    const steered = Array.from({ length: changes }, () => ({
      entry: { step: 3, ...set },
      refused: undefined,
    }))
    const runExperiment = OPENING.experiment
    const runDocument = { ...runExperiment, steering: steered.map(({ entry }) => entry) }
    const run = { runExperiment, runDocument, phase_switches, steered }
    labStore.setState({ ...initialState(), ...run }, true)
    return renderToStaticMarkup(<Record />)
  }
  expect(drawn(1, 2)).toContain('1 phase, 2 changes by hand')
  expect(drawn(2, 1)).toContain('2 phases, 1 change by hand')
})
