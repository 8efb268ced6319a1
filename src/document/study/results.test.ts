// Tests what is kept of a run that was interrupted and continued.
import { expect, test } from 'vitest'
import { HistoryLog } from '../../host/checkpoints/history.ts'
import { plainHistory } from '../../host/checkpoints/origin.ts'
import { plannedRuns } from './queue.ts'
import { phaseAt, ResultLog } from './results.ts'
import { armsOf, studyOf } from './testing.ts'

const study = studyOf()
const [{ experiment }] = plannedRuns(study, armsOf())
const facts = { arm: 'slow', seed: 1, status: 'finished', adapter: '', seconds: 1 } as const
/** Ten supervised steps, then reinforcement. */
const metricsAt = (step: number) => ({
  'layer/entropy/1': 3 - step / 100,
  ...(step > 10 && { 'perf/total_num_tokens': 400 + step, 'critic/score/mean': step / 30 }),
  ...(step % 10 === 0 && { 'val-aux/sort_digits/acc/greedy': step / 40 }),
})

test('a run that continues from its history leaves what one that was never left does', () => {
  const whole = new ResultLog(experiment, study)
  for (let step = 0; step <= 30; step++) whole.step(step, step <= 10 ? 0 : 1, metricsAt(step))

  const told = new HistoryLog()
  told.add({ type: 'phase', step: 0, phase: 0, reason: 'start' })
  told.add({ type: 'phase', step: 10, phase: 1, reason: 'steps' })
  for (let step = 0; step <= 14; step++) told.add({ type: 'step', step, metrics: metricsAt(step) })
  const continued = new ResultLog(experiment, study)
  continued.recall(plainHistory(told.history))
  for (let step = 15; step <= 30; step++) continued.step(step, 1, metricsAt(step))
  expect(continued.result(facts)).toEqual(whole.result(facts))
})

test('the phase of a step is the one that began before it', () => {
  const switches = [
    { step: 0, phase: 0 },
    { step: 10, phase: 1 },
  ]
  expect([0, 1, 10, 11].map((step) => phaseAt(switches, step))).toEqual([0, 0, 0, 1])
})
