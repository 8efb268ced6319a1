import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { COLUMNS } from '../base/columns.ts'
import { scrolledTo } from './TokenGrid.tsx'
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
  expect(at(2)).toMatch(/π<\/span><sub[^>]*>old<\/sub>/)
  expect(at(0)).toContain('Token 1')
  expect(at(0)).not.toContain('old log-prob')
})

test('a table is scrolled to the columns of a stage, no further than needed', () => {
  const view = { at: 0, width: 600, heads: 50 }
  expect(scrolledTo(view, 100, 300)).toBe(0)
  expect(scrolledTo(view, 580, 700)).toBe(100)
  expect(scrolledTo({ ...view, at: 100 }, 60, 120)).toBe(10)
  // Columns wider than the view: from the first.
  expect(scrolledTo(view, 300, 1200)).toBe(250)
})
