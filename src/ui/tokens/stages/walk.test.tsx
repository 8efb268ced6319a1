import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { COLUMNS } from '../base/columns.ts'
import { Exact } from './Walk.tsx'

const sample: TracedSample = {
  prompt: '1+2=',
  response: '3',
  ground_truth: '3',
  score: 1,
  is_ended: true,
  tokens: ['3'],
  columns: { old_log_probs: [-0.04135361313819885] },
  group: { rewards: [1], lengths: [1], place: 0 },
}
const column = COLUMNS.find(({ name }) => name === 'old_log_probs') ?? COLUMNS[0]
const table = { samples: [sample] } as unknown as TokenTable
const at = (stage: number | undefined) =>
  renderToStaticMarkup(<Exact {...{ sample, column, stage, t: 0, table }} />)

test('the sentence below the table says what the table does, and no number before its stage', () => {
  expect(at(undefined)).toContain('>−0.0414</b>')
  expect(at(2)).toContain('old log-prob')
  expect(at(0)).toContain('Token 1')
  expect(at(0)).not.toContain('old log-prob')
})
