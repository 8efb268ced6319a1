import { expect, test } from 'vitest'
import { OPENING, presetOf } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { besideSays, insideWords } from './beside.ts'
import { captionOf, gotWorse, headline } from './captions.ts'

/** A finished run of a preset with the first and the last value of metrics. */
function ended(id: string, ends: Readonly<Record<string, readonly [number, number]>>): LabState {
  const runExperiment = presetOf(id)?.experiment ?? OPENING.experiment
  const series = new Map(
    Object.entries(ends).map(([metric, [first, last]]) => {
      const column = new Series()
      column.push(1, first)
      column.push(30, last)
      return [metric, column]
    }),
  )
  const phase_switches = [{ step: 0, phase: 0, reason: 'start' as const }]
  return { ...initialState(), runExperiment, series, step: 30, phase_switches } as LabState
}

test('beside the happy ends stands what the task and the watched parts say of the same stories', () => {
  const state = ended('story-ends', {
    'val-aux/story/happy_end/mean@1': [0.6, 1],
    'val-aux/story/coherence/mean@1': [0.981, 0.97],
    'val-core/story/acc/mean@1': [0.933, 0.867],
  })
  expect(besideSays(state)).toEqual([
    'On the same stories',
    'Coherence: 0.98, then 0.97.',
    'Full marks by the task’s own score (the share of its sentences that fit, in a story that comes to an end): 93\u00a0%, then 87\u00a0%: no clear change.',
  ])
})

test('a run that is told by its accuracy has nothing beside it', () => {
  expect(besideSays(ended('tiny', {}))).toEqual([])
})

test('a reward of several parts is one measure in every sentence, and its parts stand beside it', () => {
  const state = ended('story-animals', {
    'val-aux/story/acc/greedy': [0.9, 0.2],
    'val-aux/story/reward/mean@1': [1.2, 1.7],
    'val-aux/story/mentions/mean@1': [0.25, 0.75],
    'val-aux/story/happy_end/mean@1': [0.5, 0.6],
    'layer/entropy/4': [1, 0.5],
  })
  expect(headline(state)).toBe(
    'Its sampled answers to new stories earn a reward of 1.70; it began at 1.20.',
  )
  expect(captionOf(state)).toContain('Held-out reward: 1.20, then 1.70.')
  expect(gotWorse(state)).toBe(false)
  expect(besideSays(state)).toEqual([
    'On the same stories',
    'Words mentioned: 0.25, then 0.75.',
    'Happy end: 50\u00a0%, then 60\u00a0%.',
  ])
  expect(gotWorse(ended('story-animals', { 'val-aux/story/reward/mean@1': [1.8, 0.2] }))).toBe(true)
})

test('a raw layer that ends surer than the final policy is explained', () => {
  const at = (layer3: number) =>
    insideWords(
      ended('story-ends', {
        'layer/entropy/2': [0.2, 0.9],
        'layer/entropy/3': [0.1, layer3],
        'layer/entropy/4': [0.29, 0.32],
      }),
    )
  expect(at(0.07)[1]).toContain('layer 3 looks surer than the final policy: 0.07 against 0.32 nats')
  expect(at(0.31)).toEqual([])
})
