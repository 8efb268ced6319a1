// Runs of studies beside recorded ones: what a result holds is shown, and nothing else.
import { expect, test } from 'vitest'
import { plannedRuns } from '../../document/study/queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { runName } from '../../record/run/names.ts'
import { statisticOf } from '../../record/run/summary.ts'
import { studyRuns } from './study_runs.ts'
import type { KeptStudy } from './study_storage.ts'

const GREEDY = 'val-aux/sort_digits/acc/greedy'
const study = studyOf()
const [first, second] = plannedRuns(study, armsOf())
const results = [madeUpResult(study, first, 0.75), madeUpResult(study, second, 0.5)]
const state = { id: 's', study, others: [], results }

test('a finished run of a study has its arm, its settings and its last numbers', () => {
  const runs = studyRuns(state)
  expect(runs.map(({ entry }) => runName(entry).name)).toEqual(['slow, seed 1', 'fast, seed 1'])
  const [{ entry, columns }, fast] = runs
  const { header } = entry
  expect(header.study).toEqual({ id: 's', name: 'Two rates', arm: 'slow', seconds: 3 })
  expect(fast.entry.header.document.actor.optim.lr).toBe(0.001)
  expect([header.status, header.step, header.phase_step]).toEqual(['finished', 30, 20])
  expect(statisticOf(header.summaries[GREEDY], 'last', false)).toBe(0.75)
  expect([...(columns.get(GREEDY)?.steps.slice(0, 3) ?? [])]).toEqual([10, 20, 30])
})

test('what a result does not hold is absent, and no zero', () => {
  const [{ entry, columns }] = studyRuns(state)
  const { summaries, started_at } = entry.header
  // The warm start is not kept: nobody knows how high its accuracy was.
  expect(statisticOf(summaries[GREEDY], 'highest', false)).toBeUndefined()
  expect(statisticOf(summaries[GREEDY], 'last', true)).toBeUndefined()
  expect(statisticOf(summaries['layer/entropy/1'], 'lowest', false)).toBeUndefined()
  expect(statisticOf(summaries['critic/score/mean'], 'last', false)).toBeUndefined()
  expect(columns.get('critic/score/mean')).toBeUndefined()
  expect(started_at).toBeNaN()
})

test('a run that a study has in common with its copy is listed once, and keeps its object', () => {
  const copy = { id: 'c', study: studyOf({ ...DOCUMENT, name: 'Two rates (copy)' }) } as KeptStudy
  const runs = studyRuns({ ...state, others: [copy] })
  expect(runs.map(({ entry }) => entry.header.study?.id)).toEqual(['s', 's'])
  // The copy is open now, and the study lies in the list.
  const again = studyRuns({ ...state, ...copy, others: [{ ...copy, id: 's', study }] })
  expect(again[0]).toBe(runs[0])
})
