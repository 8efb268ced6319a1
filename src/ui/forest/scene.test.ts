import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPENING, presetOf } from '../../document/presets/presets.ts'
import { Series } from '../../host/columns/series.ts'
import { initialState } from '../../page/state/store.ts'
import { viewStore } from '../shown/shown.ts'
import { VERL_LOG } from '../shown/testing.ts'
import {
  clearness,
  lightAbove,
  playedScene,
  RECORDED_STEPS,
  recordedScene,
  runScene,
  type Scene,
  sceneLabels,
  sceneWords,
  shortSceneLabels,
  unmeasuredScene,
} from './scene.ts'

const scene = (entropy: readonly number[]): Scene => ({
  entropy,
  highest: 4,
  trained: undefined,
  step: 1,
  steps: 2,
})

test('a certain layer lets all light through, an undecided one a little', () => {
  expect(clearness(scene([4, 2, 0]))).toEqual([0, 0.5, 1])
  const light = lightAbove(scene([4, 2, 0]))
  // From the ground up: below half a layer, below a clear one, and the sky.
  expect(light[2]).toBe(1)
  expect(light[1]).toBe(1)
  expect(light[0]).toBeCloseTo(0.12 + 0.88 * 0.5)
  expect(lightAbove(scene([4, 4, 4]))[0]).toBeCloseTo(0.12 ** 2)
})

test('the recorded run is the one of the page, number for number', () => {
  const { events } = JSON.parse(readFileSync('public/recordings/first-steps.json', 'utf8'))
  for (const [, event] of events) {
    if (event.type !== 'step' || event.step === 0) continue
    const { entropy } = recordedScene(event.step)
    for (const [layer, nats] of entropy.entries())
      expect(nats).toBeCloseTo(event.metrics[`layer/entropy/${layer}`], 2)
  }
  const { experiment } = OPENING
  expect(RECORDED_STEPS).toBe(experiment.phases.reduce((sum, { steps }) => sum + steps, 0))
  expect(recordedScene(0).step).toBe(1)
  expect(recordedScene(1e9).step).toBe(RECORDED_STEPS)
  // Charts show the step that was measured last, so its words do too.
  expect(recordedScene(7.6)).toEqual(recordedScene(7))
  expect([1, 4, 5, 45].map((step) => recordedScene(step).trained)).toEqual([2, 2, 3, 3])
})

test('a run is shown once it has measured every layer, and at any of its steps', () => {
  const { experiment } = presetOf('tiny') ?? {}
  if (!experiment) throw new Error('no preset')
  const state = { ...initialState(), experiment }
  expect(runScene(state)).toBeUndefined()
  const series = new Map([0, 1, 2].map((layer) => [`layer/entropy/${layer}`, new Series()]))
  const running = {
    ...state,
    runExperiment: experiment,
    step: 68,
    phase: 1,
    phase_step: 2,
    phase_switches: [
      { step: 0, phase: 0, reason: 'start' as const },
      { step: 66, phase: 1, reason: 'steps' as const },
    ],
    series,
  }
  for (const column of series.values()) column.push(1, 3)
  expect(runScene(running)).toBeUndefined()
  series.set('layer/entropy/3', new Series())
  for (const column of series.values()) column.push(68, 1.5)
  series.get('layer/entropy/3')?.push(68, 1.5)
  expect(runScene(running)).toMatchObject({
    entropy: [1.5, 1.5, 1.5, 1.5],
    trained: 2,
    step: 68,
    steps: 120,
  })
})

test('what is seen is said', () => {
  const shown = { ...scene([3, 2.5, 0.634]), trained: 1 }
  expect(sceneLabels(shown)).toEqual(['final policy 0.634', 'layer 1 2.500', 'embedding 3.000'])
  expect(sceneWords(shown)).toBe(
    'Step 1 of 2. Entropy in nats, from the canopy down: final policy 0.634, layer 1 2.500, embedding 3.000. In training: layer 1.',
  )
})

test('a run without measurements has its own layers, dark and without numbers', () => {
  const { experiment } = presetOf('tiny') ?? {}
  if (!experiment) throw new Error('no preset')
  expect(unmeasuredScene(initialState())).toBeUndefined()
  const waiting = unmeasuredScene({ ...initialState(), runExperiment: experiment })
  if (!waiting) throw new Error('no scene')
  // A phone's row has room for two decimals.
  expect(shortSceneLabels(scene([3, 2.5, 0.634]))).toEqual([
    'final 0.63',
    'layer 1 2.50',
    'emb 3.00',
  ])
  expect(shortSceneLabels(waiting)).toEqual(['final –', 'layer 2 –', 'layer 1 –', 'emb –'])
  expect(sceneLabels(waiting)).toEqual(['final policy –', 'layer 2 –', 'layer 1 –', 'embedding –'])
  expect(clearness(waiting)).toEqual([0, 0, 0, 0])
  expect(sceneWords(waiting)).toBe('This run has not measured its layers yet.')
  // Nothing more comes of a log.
  viewStore.setState({ log: VERL_LOG })
  expect(sceneWords(waiting)).toBe('The log has no entropy of every layer.')
  viewStore.setState({ log: undefined })
})

test('where a link tells every layer of the sender’s run, that is played instead', () => {
  const { experiment } = presetOf('tiny') ?? {}
  if (!experiment) throw new Error('no preset')
  const told = [
    [3, 3, 3],
    [3, 2, 1],
    [4, 1, 0.5],
    [2, 1, 0.25],
  ]
  const steps = [0, 10, 20]
  const lines = told.map((values, layer) => ({ name: `layer/entropy/${layer}`, steps, values }))
  const result = { adapter: 'A', steps: 20, lines }
  const sent = { result, experiment }
  expect(playedScene(1, sent)).toMatchObject({
    entropy: [3, 1, 0.5, 0.25],
    highest: 4,
    step: 20,
    steps: 20,
    isSent: true,
  })
  expect(playedScene(0.5, sent)).toMatchObject({ entropy: [3, 2, 1, 1], step: 10 })
  expect(playedScene(0, sent)).toMatchObject({ entropy: [3, 3, 4, 2], step: 1 })
  // One layer is missing: the recorded run, which the page says.
  const few = { experiment, result: { ...result, lines: lines.slice(1) } }
  expect(playedScene(1, few)).toEqual(recordedScene(RECORDED_STEPS))
  expect(playedScene(1, { experiment, result: undefined }).isRecorded).toBe(true)
})
