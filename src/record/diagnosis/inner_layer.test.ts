import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import type { Observation } from '../../host/protocol/observation.ts'
import {
  decidingChanges,
  ffnChange,
  innerPhases,
  isFromStart,
  laterChanges,
  layerFor,
  measuredChanges,
  stateToMeasure,
  withInnerPhase,
} from './inner_layer.ts'

/** ΔH_FFN of layers 1…3 by step. */
const MEASURED: readonly [step: number, ...number[]][] = [
  [0, 0.01, 0, -0.01],
  [66, 0.4, 0.3, -0.2],
  [90, 0.5, 0.04, -0.3],
]

function columns(rows: typeof MEASURED): Map<string, Series> {
  const series = new Map<string, Series>()
  for (const [step, ...changes] of rows)
    appendMetrics(
      series,
      step,
      Object.fromEntries(changes.map((change, l) => [ffnChange(l + 1), change])),
    )
  return series
}

const tiny = () => {
  const preset = presetOf('tiny')
  if (!preset) throw new Error('there is no preset tiny')
  return preset.experiment
}

test('the weights that reinforcement began with decide; before it does, the newest', () => {
  const series = columns(MEASURED)
  expect(decidingChanges(series, 3, undefined)?.step).toBe(90)
  const began = decidingChanges(series, 3, 66)
  expect(began).toEqual({ step: 66, delta_h_ffn: [0.4, 0.3, -0.2] })
  // A warm start that was ended by hand between two validations.
  expect(decidingChanges(series, 3, 70)?.step).toBe(66)
  // Nothing was measured until then.
  expect(decidingChanges(columns([[90, 1, 1, 1]]), 3, 66)?.step).toBe(90)
  if (began) expect(layerFor(began, 0.05)?.layer).toBe(2)
  const newest = measuredChanges(series, 3).at(-1)
  if (newest) expect([0.05, 0.03].map((t) => layerFor(newest, t)?.layer)).toEqual([1, 2])
})

test('what the figures saw counts as well, and of one step the metrics', () => {
  const saw = (step: number, ...dH_ffn: number[]) => {
    const rows = 'demonstrations' as const
    return { step, item: { mean: { dH_ffn }, rows } as unknown as Observation }
  }
  const seen = [saw(0, 1, 1, 1), saw(66, 2, 2, 2), saw(80), saw(90, 3, 3, 3), saw(95, 4, 4)]
  // Nothing but the figures measured it: the answer is there all the same.
  expect(decidingChanges(new Map(), 3, 66, seen)).toEqual({
    step: 66,
    delta_h_ffn: [2, 2, 2],
    rows: 'demonstrations',
  })
  expect(decidingChanges(new Map(), 3, undefined, seen)?.step).toBe(90)
  expect(decidingChanges(new Map(), 3, 66, [saw(90, 3, 3, 3)])?.step).toBe(90)
  const series = columns(MEASURED)
  expect(decidingChanges(series, 3, 66, seen)).toEqual({
    step: 66,
    delta_h_ffn: [0.4, 0.3, -0.2],
  })
  expect(decidingChanges(series, 3, 80, [saw(70, 2, 2, 2)])?.step).toBe(70)
  expect(decidingChanges(new Map(), 3, 66, [saw(66, Number.NaN, 1, 1)])).toBeUndefined()
})

test('a measurement after reinforcement began says nothing of how a first phase finds the model', () => {
  const at = (step: number) => ({ step, delta_h_ffn: [1, 2] })
  expect([isFromStart(at(0), 0), isFromStart(at(4), 4), isFromStart(at(3), 4)]).toEqual([
    true,
    true,
    true,
  ])
  expect([isFromStart(at(45), 0), isFromStart(at(45), undefined)]).toEqual([false, true])
})

test('of the kept states, the one that reinforcement began with is measured', () => {
  expect(stateToMeasure([], 66)).toBeUndefined()
  expect(stateToMeasure([129, 67, 66, 5], 66)).toBe(66)
  expect(stateToMeasure([129, 67, 45, 5], 66)).toBe(45)
  expect(stateToMeasure([129, 109, 67], 66)).toBe(67)
  expect(stateToMeasure([12, 5], undefined)).toBe(12)
})

test('a run that began with reinforcement is measured at its beginning, made anew', () => {
  expect(stateToMeasure([12, 4], 0, true)).toBe('beginning')
  expect(stateToMeasure([], 0, true)).toBe('beginning')
  expect(stateToMeasure([12, 4, 0], 0, true)).toBe(0)
  expect(stateToMeasure([12, 4], 0, false)).toBe(4)
  // Its warm start would have to be trained again.
  expect(stateToMeasure([70, 67], 66, true)).toBe(67)
})

test('a later state never replaces an earlier answer: it is an addition', () => {
  const saw = (step: number, ...dH_ffn: number[]) => ({
    step,
    item: { mean: { dH_ffn } } as unknown as Observation,
  })
  const [early, late] = [saw(4, 0, 0.445, -0.5), saw(12, 0, 0.301, -0.5)]
  const before = decidingChanges(new Map(), 3, 0, [early])
  const after = decidingChanges(new Map(), 3, 0, [early, late])
  expect(after).toEqual(before)
  expect(after?.step).toBe(4)
  expect(after && laterChanges(new Map(), 3, after, [early, late])?.step).toBe(12)
  expect(after && laterChanges(new Map(), 3, after, [early])).toBeUndefined()
  // The beginning, once it was measured, comes before all of them.
  expect(decidingChanges(new Map(), 3, 0, [saw(0, 0, 0.6, -0.5), early, late])?.step).toBe(0)
})

test('what was not measured, or not of all layers, is no measurement', () => {
  expect(measuredChanges(new Map(), 3)).toEqual([])
  expect(measuredChanges(columns(MEASURED), 4)).toEqual([])
  expect(measuredChanges(columns([...MEASURED, [95, 1, Number.NaN, 1]]), 3).at(-1)?.step).toBe(90)
  expect(layerFor({ step: 1, delta_h_ffn: [0.3] }, 0.05)).toBeUndefined()
})

test('an inner phase goes before the whole model’s reinforcement, and the experiment stays sound', () => {
  const experiment = tiny()
  expect(innerPhases(experiment)).toEqual([1])
  const phases = withInnerPhase(experiment, 1)
  const targets = phases?.map((phase) => (phase.kind === 'rl' ? phase.target_layer : phase.kind))
  expect(targets).toEqual(['sft', 2, 1, 'final'])
  expect(parseExperiment({ ...experiment, phases }).ok).toBe(true)
  // The last phase has begun: behind it.
  const later = withInnerPhase(experiment, 1, 3)?.at(-1)
  expect(later).toMatchObject({ kind: 'rl', target_layer: 1 })
  const full = { ...experiment, phases: Array(MAX_PHASES).fill(experiment.phases[2]) }
  expect(withInnerPhase(full, 1)).toBeUndefined()
})

test('an inner phase takes the method of its neighbour, and is no longer', () => {
  const first = presetOf('first-steps')?.experiment
  if (!first) throw new Error('no preset')
  const added = withInnerPhase(first, 1)?.[1]
  expect(added).toEqual({ ...first.phases[0], name: null, target_layer: 1 })
  // Without an inner phase beside it: as the whole model learns, but for what needs it.
  const actor = { grad_clip: 0.5, inner: { layers: '1' } }
  const [, phase] = first.phases
  const whole = Object.assign({}, phase, { steps: 12, actor })
  const alone = { ...first, phases: [whole] }
  expect(withInnerPhase(alone, 2)?.[0]).toMatchObject({
    adv_estimator: 'reinforce_plus_plus',
    steps: 12,
    target_layer: 2,
    actor: { grad_clip: 0.5, inner: { layers: null } },
  })
  expect(withInnerPhase({ ...alone, phases: [phase] }, 2)?.[0]).toMatchObject({ steps: 20 })
})
