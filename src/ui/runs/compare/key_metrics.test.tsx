// The numbers of compared runs: what a run does not have is not written as if it had.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { lastOnly } from '../../../record/run/summary.ts'
import { greedyAccuracy, REWARD } from '../../shown/metrics.ts'
import { comparedGroups } from '../base/compared.ts'
import { selectionStore } from '../base/selection.ts'
import { entryOf } from '../table/testing.ts'
import { KeyMetrics } from './KeyMetrics.tsx'

const text = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('of a run of a study the last number is there and no highest one', () => {
  const own = entryOf('a', { greedy: 0.5 })
  const study = entryOf('b', { greedy: 0.75, lr: 0.01 })
  const { experiment } = study.header
  const greedy = greedyAccuracy(experiment.task.id)
  const summaries = { [greedy]: lastOnly(0.75, 3), [REWARD]: lastOnly(0.777, 3) }
  const kept = { id: 's', name: 'S', arm: 'fast', seconds: 1 }
  const ofStudy = { ...study, header: { ...study.header, summaries, study: kept } }
  const ticked = ['a', 'b']
  const selection = { ...selectionStore.getInitialState(), ticked }
  const groups = comparedGroups([own, ofStudy], selection)
  expect(groups.map(({ label }) => label)).toEqual(['a', 'fast, seed 1'])
  const said = text(renderToStaticMarkup(<KeyMetrics groups={groups} />))
  expect(said).toContain('50.0 % , highest 50.0 %')
  expect(said).toContain('75.0 % 77.7 %')
  // Its reward too ends where its line does.
  expect(said).toContain('77.7 %')
  expect(said).toContain('+25.0 points')
  expect(said).not.toContain('no seed in common')
})

test('a run that still trains is in no table of ends', () => {
  const over = entryOf('a', { greedy: 0.5 })
  const half = entryOf('b', { greedy: 0.75 })
  const running = { ...half, header: { ...half.header, status: 'running', step: 2 } as const }
  const group = (entry: typeof over) => ({ label: entry.id, entries: [entry], again: [] })
  const said = (...entries: readonly (typeof over)[]) =>
    text(renderToStaticMarkup(<KeyMetrics groups={entries.map(group)} />))
  expect(said(over, running)).toContain('50.0 %')
  expect(said(over, running)).not.toMatch(/75\.0|points/)
  expect(said(running)).toBe(' None of them has come to its end yet. ')
})

test('a run of a log, whose task nobody knows, is paired with none', () => {
  const own = entryOf('a', { greedy: 0.5 })
  const other = entryOf('b', { greedy: 0.75 })
  const logOf = (kind: string) => {
    const source = { kind, file: 'verl_seed1.log', remarks: [], seed: 1 }
    return { ...other, header: { ...other.header, source } }
  }
  const group = (entry: typeof own) => ({ label: entry.id, entries: [entry], again: [] })
  const said = (...entries: readonly (typeof own)[]) =>
    text(renderToStaticMarkup(<KeyMetrics groups={entries.map(group)} />))
  expect(said(own, logOf('verl'))).toContain('No log says its task')
  expect(said(own, logOf('verl'))).not.toContain('seed 1')
  expect(said(logOf('verl'), logOf('verl'))).toContain('No log says its task')
  expect(said(own, other, logOf('verl'))).toContain('task not known')
  // The runs of one table are of one project.
  expect(said(logOf('wandb'), logOf('wandb'))).toContain('seed 1')
})
