import { expect, test } from 'vitest'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { COLUMNS, shownColumns } from '../base/columns.ts'
import { missingColumns, whyMissing } from './why_missing.ts'

const tableOf = (change: object = {}, updates = 1) =>
  ({
    loss_mode: 'vanilla',
    updates,
    phase: {
      adv_estimator: 'grpo',
      actor: { use_kl_loss: false },
      algorithm: { use_kl_in_reward: false },
    },
    ...change,
  }) as unknown as TokenTable

const UPDATED = {
  old_log_probs: [-1, -1],
  token_level_scores: [0, 1],
  token_level_rewards: [0, 1],
  advantages: [1, 1],
  returns: [1, 1],
  log_probs: [-1, -1],
  ratio: [1, 1],
  entropy: [0.5, 0.5],
  log_probs_after: [-0.9, -0.9],
  clipped: [0, 0],
}
const sampleOf = (columns: TracedSample['columns']) =>
  ({ tokens: ['3', '<eos>'], columns }) as unknown as TracedSample

const missing = (table: TokenTable, columns: TracedSample['columns']) => {
  const sample = sampleOf(columns)
  return missingColumns(table, sample, shownColumns(sample)).map(({ labels, why }) => [labels, why])
}

test('what a phase does without is named with the reason, those of one reason together', () => {
  expect(missing(tableOf(), UPDATED)).toEqual([
    [['ref log-prob'], 'no KL in reward or loss, so no reference is asked'],
    [['value'], 'only GAE has a critic; this phase uses GRPO'],
    [['KL, reward'], 'no KL in the reward'],
    [['KL, loss'], 'no KL in the loss'],
  ])
  const { clipped, ...unclipped } = UPDATED
  expect(clipped).toBeDefined()
  const sapo = missing(tableOf({ loss_mode: 'sapo' }), unclipped)
  expect(sapo).toContainEqual([['clipped'], 'the loss sapo clips no ratio'])
})

test('without an update its columns are missing for that reason alone', () => {
  const { old_log_probs, advantages, returns } = UPDATED
  const idle = { old_log_probs, advantages, returns }
  const labels = ['log-prob', 'ratio', 'clipped', 'entropy', 'log-prob after', 'change']
  expect(missing(tableOf({}, 0), idle)).toContainEqual([
    labels,
    'only the critic learns in this step',
  ])
  expect(missing(tableOf(), idle)).toContainEqual([
    labels,
    'all tokens of its mini-batch were rejected',
  ])
})

test('a single token without a number was rejected; a number has no reason to be missing', () => {
  const sample = sampleOf({ ...UPDATED, clipped: [1, Number.NaN] })
  expect(whyMissing(tableOf(), sample, 'clipped', 1)).toBe('rollout correction rejected this token')
  expect(whyMissing(tableOf(), sample, 'clipped', 0)).toBeUndefined()
  expect(missing(tableOf(), sample.columns).flatMap(([labels]) => labels)).not.toContain('clipped')
})

test('every column that can be missing has a reason of its own', () => {
  const nothing = sampleOf({})
  for (const { name, isRare } of COLUMNS)
    if (!isRare) expect(whyMissing(tableOf({}, 0), nothing, name, 0), name).toBeTruthy()
})
