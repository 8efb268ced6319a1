import { expect, test } from 'vitest'
import type { LayerProbe, Probes } from '../../../host/protocol/touch.ts'
import {
  probeLines,
  probeLinesOverSteps,
  probeSays,
  probesSay,
  probesTable,
  probesTitle,
  toldApart,
} from './probe_words.ts'

const SURE = 0.05
const probe = (accuracy: number, control: number): LayerProbe => ({
  accuracy: { mean: accuracy, interval: SURE },
  control: { mean: control, interval: SURE },
  gain: { mean: accuracy - control, interval: SURE },
  fitted: 1,
})
const probesOf = (...layers: readonly LayerProbe[]): Probes => ({
  property: 'carry',
  label: 'whether the units carry',
  problems: { fitted: 64, held_out: 64 },
  states: [
    { step: 40, layers, commonest: 0.5 },
    { step: 20, layers: [], commonest: 1, why_not: 'nothing to tell apart' },
    { step: 10, layers: layers.map(() => probe(0.5, 0.5)), commonest: 0.5 },
  ],
})

test('the layer that tells most is named, the first that tells it, and what it was before', () => {
  const probes = probesOf(probe(0.5, 0.5), probe(0.75, 0.5), probe(0.9, 0.5))
  expect(probesSay(probes)).toBe(
    'After step 40, layer 2 tells whether the units carry best: 90.0\u00a0% ± 5.0\u00a0% of 64 held-out problems, with shuffled labels 50.0\u00a0%. The first that tells it better than shuffled labels is layer 1. After step 10, layer 2 told it for 50.0\u00a0%.',
  )
  expect(probesTitle(probes)).toMatch(/^Held-out problems whose layer tells/)
  const tokens = { ...probes, problems: { ...probes.problems, tokens: 256 } }
  expect(probesSay(tokens)).toContain('of 256 answer tokens of 64 held-out problems, with')
  expect(probesTitle(tokens)).toMatch(/^Held-out answer tokens at which the layer tells/)
  expect(toldApart(probes).map(({ step }) => step)).toEqual([10, 40])
  expect(probeSays(probes.states[0], 1)).toBe(
    'step 40, layer 1: 75.0\u00a0% ± 5.0\u00a0%; with shuffled labels 50.0\u00a0%, so +25.0 points ± 5.0\u00a0%; on the problems it was fitted on 100.0\u00a0%',
  )
  const looks = [0, 1].map(() => ({ color: 'red', dash: [] }))
  const [own, control] = probeLines(probes.states[0], looks)
  expect([own.middle, control.middle]).toEqual([
    [0.5, 0.75, 0.9],
    [0.5, 0.5, 0.5],
  ])
  // Over training, the oldest state first.
  const [learnt] = probeLinesOverSteps(probes, 1, looks)
  expect([learnt.at, learnt.middle]).toEqual([
    [10, 40],
    [0.5, 0.75],
  ])
  const { columns, rows } = probesTable(probes)
  expect(rows).toHaveLength(6)
  for (const row of rows) expect(row).toHaveLength(columns.length)
})

test('a layer that shuffled labels do as well as has told nothing', () => {
  expect(probesSay(probesOf(probe(0.5, 0.5), probe(0.52, 0.5)))).toContain(
    'no layer tells whether the units carry better than shuffled labels',
  )
})
