import { expect, test } from 'vitest'
import { noiseOf } from '../../../document/formulas/advantage_noise.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import {
  COLUMNS,
  cellText,
  cellValue,
  exactText,
  isFilled,
  saidText,
  shownColumns,
} from '../base/columns.ts'
import { placeOf } from '../base/sample_choice.ts'
import { optionText } from './SampleChoice.tsx'
import { STAGES } from './stages.ts'

const sample = (score: number, columns: TracedSample['columns'] = {}): TracedSample => ({
  prompt: '1+2=',
  response: '3',
  ground_truth: '3',
  score,
  is_ended: true,
  tokens: ['3', '<eos>'],
  columns,
  group: { rewards: [score], lengths: [2], place: 0 },
})

test('the best and the worst response are the first of their score; a place stays within', () => {
  const samples = [0.5, 0, 1, 1, 0].map((score) => sample(score))
  expect([placeOf(samples, 'best'), placeOf(samples, 'worst')]).toEqual([2, 1])
  expect([placeOf(samples, 3), placeOf(samples, 9)]).toEqual([3, 4])
})

test('best and worst are of a prompt whose responses were told apart, where there is one', () => {
  const group = { rewards: [0, 0.5], lengths: [2, 2], place: 0 }
  const samples = [sample(1), sample(0.5), sample(0)].map((one, i) =>
    i > 0 ? { ...one, group } : one,
  )
  expect([placeOf(samples, 'best'), placeOf(samples, 'worst')]).toEqual([1, 2])
})

test('numbers line up, what a step has not is a dash, and the exact number is not rounded', () => {
  const told = sample(1, {
    ratio: [1, 1.04123456],
    old_log_probs: [-1.25, -0.00001],
    log_probs_after: [-1, -0.00001],
    clipped: [2, Number.NaN],
  })
  const noise = noiseOf([sample(1, { advantages: [7.4e-7] })])
  expect([cellText(told, 'ratio', 0, noise), cellText(told, 'ratio', 1, noise)]).toEqual([
    '1',
    '1.0412',
  ])
  expect(cellText(told, 'old_log_probs', 1, noise)).toBe('−1.0e-5')
  expect(exactText(told, 'ratio', 1)).toBe('1.04123456')
  // The sentence below the table says what the table does, with its minus sign.
  expect(saidText(told, 'old_log_probs', 0, noise)).toBe('−1.2500')
  expect(exactText(told, 'old_log_probs', 0)).toBe('−1.25')
  expect(saidText(told, 'clipped', 0, noise)).toContain('bad responses')
  expect(cellText(sample(1, { advantages: [7.4e-7] }), 'advantages', 0, noise)).toBe('0')
  expect(cellValue(told, 'moved', 0)).toBe(0.25)
  expect([cellText(told, 'values', 0, noise), cellText(told, 'clipped', 1, noise)]).toEqual([
    '–',
    '–',
  ])
  expect(exactText(told, 'values', 0)).toBeUndefined()
  const filled = (['clipped', 'moved', 'values'] as const).filter((name) =>
    isFilled(told, { name }),
  )
  expect(filled).toEqual(['clipped', 'moved'])
  expect(exactText(told, 'clipped', 0)).toContain('bad responses')
})

test('rare columns are shown where they say something; every stage after the first has one', () => {
  const names = (columns: TracedSample['columns']) =>
    shownColumns(sample(0, columns)).map(({ name }) => name)
  expect(names({ response_mask: [1, 1] })).not.toContain('response_mask')
  expect(names({ response_mask: [1, 0] })).toContain('response_mask')
  expect(names({ rollout_is_weights: [1, 1] })).toContain('rollout_is_weights')
  expect(STAGES).toHaveLength(7)
  expect(new Set(COLUMNS.map(({ stage }) => stage))).toEqual(new Set([1, 2, 3, 4, 5, 6]))
})

test('every stage says something true of a step that updated nothing, and of one that did', () => {
  const table = {
    loss_mode: 'vanilla',
    updates: 0,
    phase: {
      name: 'rl',
      adv_estimator: 'grpo',
      rollout: { temperature: 1 },
      actor: { grad_clip: 1 },
      algorithm: { rollout_correction: { bypass_mode: false } },
      reward_model: { enable: false },
    },
  } as unknown as TokenTable
  const update = { grad_norm: 4, lr: 0.001 }
  const says = (told: TracedSample, updates: number) =>
    STAGES.map((stage) =>
      stage.says({ table: { ...table, samples: [told], updates }, sample: told, update }),
    )
  const idle = says(sample(1, { advantages: [0.5, 0.5] }), 0)
  expect(idle[2]).toContain('no reference and no critic')
  expect(idle[4]).toContain('0.5000 on every token')
  expect(says(sample(1, { advantages: [7.4e-7, 7.4e-7] }), 0)[4]).toContain(': 0 on every token')
  expect(idle[5]).toContain('no policy loss')
  expect(idle[6]).toContain('stays as it is')
  const columns = {
    ratio: [1, 1],
    clipped: [0, 0],
    old_log_probs: [-1, -1],
    log_probs_after: [-0.5, -1],
  }
  const busy = says(sample(1, columns), 1)
  expect(busy[5]).toContain('every ratio is exactly 1')
  expect(busy[5]).toContain('0 of 2 tokens')
  expect(busy[6]).toContain('here by 0.25')
  expect(busy[6]).toContain('from −2 to −1.5000')
})

test('a list of responses has signs for what cannot be seen', () => {
  expect(optionText({ ...sample(1), prompt: '<pad>633', response: '' })).toBe('∅633 (nothing)   1')
})
