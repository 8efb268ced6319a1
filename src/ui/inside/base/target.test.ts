import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../../host/columns/series.ts'
import { recordedState } from '../../../page/connection/shipped_recording.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { readRecording } from '../../../record/files/recording.ts'
import { shownExperiment } from '../../shown/run.ts'
import { divergences } from './history.ts'
import { measuredTarget, targetLayer } from './target.ts'

const state: LabState = { ...initialState(), phase: 0 }
const { model, phases } = shownExperiment(state)
const L = model.num_hidden_layers
const whole: LabState = {
  ...state,
  experiment: {
    ...state.experiment,
    phases: phases.map((phase) =>
      phase.kind === 'rl' ? { ...phase, target_layer: 'final' } : phase,
    ),
  },
}

test('the layer that a phase trains', () => {
  const inner = phases.flatMap((phase) =>
    phase.kind === 'rl' && typeof phase.target_layer === 'number' ? [phase.target_layer] : [],
  )
  expect(inner.length).toBeGreaterThan(0)
  expect(targetLayer(state, 0.05)).toBe(inner[0])
})

test('without such a phase the suggested one, by the threshold; without a measurement the middle', () => {
  expect(targetLayer(whole, 0.05)).toBe(Math.floor(L / 2))
  const series = new Map<string, Series>()
  const changes = Array.from({ length: L }, (_, l) => (l === 0 ? 0.5 : l === 1 ? 0.2 : -0.1))
  appendMetrics(
    series,
    0,
    Object.fromEntries(changes.map((x, l) => [`layer/delta_h_ffn/${l + 1}`, x])),
  )
  expect(targetLayer({ ...whole, series }, 0.05)).toBe(2)
  expect(targetLayer({ ...whole, series }, 0.3)).toBe(1)
})

test('of the shipped recording a layer of which every part of the figure was measured', () => {
  const read = readRecording(readFileSync('public/recordings/first-steps.json', 'utf8'))
  if (!read.ok) throw new Error(read.problem)
  const recorded = recordedState(read.recording)
  const layers = recorded.experiment.model.num_hidden_layers
  const { items } = recorded.kept.observations
  const lines = divergences(items, measuredTarget(recorded, 0.05), layers)
  expect(lines.map(({ length }) => length > 2)).toEqual(Array(layers + 1).fill(true))
  expect(measuredTarget(state, 0.05)).toBe(targetLayer(state, 0.05))
})
