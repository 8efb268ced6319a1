import { expect, test } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import { HistoryLog, historyUntil } from './history.ts'
import { EVERYTHING, madeState } from './testing.ts'

const stateAt = (step: number, phase: number, change: object = {}, done = 0) => ({
  trainer: { ...madeState(EVERYTHING, step, phase), ...change },
  experiment: EVERYTHING as Experiment,
  document: EVERYTHING as Experiment,
  done,
})

const step = (step: number): LabEvent => ({
  type: 'step',
  run: 1,
  step,
  phase: 0,
  phase_step: step,
  metrics: { loss: step / 3, ...(step % 2 === 0 && { even: Number.NaN }) },
})
const columns = (log: HistoryLog | ReturnType<typeof historyUntil>) =>
  [...('history' in log ? log.history : log).series].map(([name, { steps, values, length }]) => [
    name,
    [...steps.subarray(0, length)],
    [...values.subarray(0, length)],
  ])

test('the columns of a history end with the step of the state, and grow on from there', () => {
  const log = new HistoryLog()
  for (const i of [0, 1, 2, 3, 4]) log.add(step(i))
  const cut = historyUntil(log.history, stateAt(3, 0))
  expect(columns(cut)).toEqual([
    ['loss', [0, 1, 2, 3], [0, 1 / 3, 2 / 3, 1]],
    ['even', [0, 2], [Number.NaN, Number.NaN]],
  ])
  const again = new HistoryLog(cut)
  again.add(step(4))
  expect(columns(again)).toEqual(columns(log))
  // The history it went on from has not grown.
  expect(cut.series.get('loss')?.length).toBe(4)
  expect(columns(historyUntil(log.history, stateAt(0, 0)))).toEqual([
    ['loss', [0], [0]],
    ['even', [0], [Number.NaN]],
  ])
})

test('phases belong to a state once they have begun and were told', () => {
  const log = new HistoryLog()
  log.add({ type: 'phase', step: 0, phase: 0, reason: 'start' })
  log.add({ type: 'phase', step: 3, phase: 1, reason: 'steps' })
  const phases = (phase: number, change = {}) =>
    historyUntil(log.history, stateAt(3, phase, change)).phase_switches.map(({ phase }) => phase)
  // After step 3 the first phase is over, and the next has not begun.
  expect(phases(0)).toEqual([0])
  // It has begun, because it waits for a person: told or not.
  expect(phases(1)).toEqual([0, 1])
  expect(phases(1, { began: 'steps' })).toEqual([0])
})

test('what was done belongs to a state that knows it, refusals by their step', () => {
  const log = new HistoryLog()
  const done = (step: number, refused?: string) =>
    log.add({
      type: 'steered',
      entry: { step, kind: 'repeat_phase' },
      ...(refused !== undefined && { refused }),
    })
  done(1)
  done(1, 'no')
  done(3)
  done(3, 'no')
  const marks = (done: number, step = 3) =>
    historyUntil(log.history, stateAt(step, 0, {}, done)).steered.map(
      ({ entry, refused }) => `${entry.step}${refused ?? ''}`,
    )
  expect(marks(2, 4)).toEqual(['1', '1no', '3', '3no'])
  expect(marks(1)).toEqual(['1', '1no'])
  expect(marks(0, 1)).toEqual([])
})

test('of verdicts a state says itself what was said in its phase, and nothing of later ones', () => {
  const log = new HistoryLog()
  log.add({ type: 'pairs', phase: 0, verdicts: 'ab' })
  log.add({ type: 'pairs', phase: 1, verdicts: 'buas4b' })
  log.add({ type: 'pairs', phase: 2, verdicts: 'a' })
  expect(historyUntil(log.history, stateAt(2, 1)).verdicts).toEqual({ 0: 'ab', 1: 'bua1s' })
  expect(historyUntil(log.history, stateAt(2, 0)).verdicts).toEqual({})
  log.add({ type: 'progress', run: 1, message: 'passed over' })
})
