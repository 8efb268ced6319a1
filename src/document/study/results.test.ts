// Tests what is kept of a run that was interrupted and continued.
import { expect, test } from 'vitest'
import { HistoryLog } from '../../host/checkpoints/history.ts'
import { plainHistory } from '../../host/checkpoints/origin.ts'
import { analyse } from './analysis.ts'
import { expandStudy } from './arms.ts'
import { plannedRuns } from './queue.ts'
import { studyFiles } from './report/files.ts'
import { insideTables } from './report/inside.ts'
import { placeLines, proxyLines } from './report/lines.ts'
import { measureSentence } from './report/words.ts'
import { type Point, phaseAt, ResultLog } from './results.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from './testing.ts'

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

test('what learns from a teacher is compared, and its samples are counted', () => {
  const phases = [
    { kind: 'sft', steps: 2 },
    { kind: 'distill', steps: 3, batch_size: 16, target_layer: 1 },
  ]
  const arms = [{ name: 'GRPO' }, { name: 'taught', set: { phases } }]
  const taught = studyOf({ ...DOCUMENT, arms, grid: {}, baseline: 'GRPO' })
  const expanded = expandStudy(taught)
  if (!expanded.ok) throw new Error(expanded.problems.join())
  const log = new ResultLog(expanded.arms[1].experiment, taught)
  for (let step = 0; step <= 5; step++)
    log.step(step, step <= 2 ? 0 : 1, step <= 2 ? {} : { 'perf/total_num_tokens': 100 })
  const { begins, costs } = log.result(facts)
  expect([begins, costs.responses.at(-1), costs.tokens.at(-1)]).toEqual([2, [5, 48], [5, 300]])
})

test('what learns preferences, or a reward model, is compared as reinforcement is', () => {
  const sft = { kind: 'sft', steps: 2 }
  const phases = [
    [sft, { kind: 'preference', steps: 3 }],
    [
      sft,
      { kind: 'reward_model', steps: 1 },
      { kind: 'rl', steps: 2, reward_model: { enable: true } },
    ],
  ]
  const arms = phases.map((own, i) => ({ name: `${i}`, set: { phases: own } }))
  const both = studyOf({ ...DOCUMENT, arms, baseline: '0', budget: { same: 'steps' } })
  const expanded = expandStudy(both)
  if (!expanded.ok) throw new Error(expanded.problems.join())
  expect(expanded.notes).toEqual([])
  const runs = plannedRuns(both, expanded.arms).filter(({ seed }) => seed === both.seeds[0])
  for (const [i, run] of runs.entries()) {
    const log = new ResultLog(run.experiment, both)
    for (let step = 0; step <= 5; step++)
      log.step(step, step <= 2 ? 0 : i === 1 && step > 3 ? 2 : 1, metricsAt(step))
    expect(log.result(facts).begins).toBe(2)
  }
})

test('what a reward model says is drawn beside the measure, of the arms that have one', () => {
  const judged = {
    phases: [
      { kind: 'reward_model', steps: 10 },
      { kind: 'rl', steps: 20, reward_model: { enable: true } },
    ],
  }
  const two = studyOf({
    ...DOCUMENT,
    arms: [{ name: 'rule' }, { name: 'proxy', set: judged }],
    baseline: 'rule',
    budget: { same: 'steps' },
  })
  const arms = armsOf(two)
  const results = plannedRuns(two, arms).map((run) => {
    const made = madeUpResult(two, run, 0.5)
    const scores: Point[] = [
      [15, 1],
      [30, 3],
    ]
    return { ...made, series: { ...made.series, 'critic/score/mean': scores } }
  })
  const analysis = analyse(two, arms, results)
  const [rule, proxy] = proxyLines(two, analysis)?.lines ?? []
  expect([rule, proxy].map(({ band }) => band.middle)).toEqual([[], [1, 3]])
  expect(studyFiles(two, analysis).get('proxy.svg')).toContain('Score of the reward model')
})

test('what is measured of a run’s states can be its measure, first or last, and has its tables', () => {
  const metric = 'inside/start_with/block_1/acc'
  const measure = { metric, at: 'first' } as const
  const own = studyOf({ ...DOCUMENT, measure, inside: { of: ['transplants', 'teacher_kl'] } })
  const arms = armsOf()
  const results = plannedRuns(own, arms).map((run) => {
    const log = new ResultLog(run.experiment, own)
    for (let step = 0; step <= 30; step++) log.step(step, step <= 10 ? 0 : 1, metricsAt(step))
    const gain = run.arm.name === 'fast' ? 0.25 : 0
    log.inside({
      'start_with/block_1/acc': [
        [20, 0.25 + gain + run.seed / 100],
        [30, 0.5],
      ],
      'start_with/blocks_up_to_1/acc': [
        [20, 0.1],
        [30, 0.25 + gain],
      ],
      'start_with/attention_1/acc': [
        [20, 0.1],
        [30, 0.1],
      ],
      'teacher_kl/1': [
        [10, 2],
        [20, 1],
        [30, 0.5],
      ],
    })
    return log.result({ ...facts, arm: run.arm.name, seed: run.seed })
  })
  expect(results[0].series[metric]).toEqual([
    [20, 0.26],
    [30, 0.5],
  ])
  const found = analyse(own, arms, results)
  expect(found.arms[1].comparison?.mean).toBeCloseTo(0.25, 9)
  const end = { ...own, measure: { ...own.measure, at: 'end' as const } }
  expect(analyse(end, arms, results).arms[1].comparison?.mean).toBe(0)
  expect(measureSentence(own, found)).toContain('accuracy of the start with block 1 of the run')
  const tables = insideTables(own, found, String)
  expect(tables).toHaveLength(3)
  expect(tables[0]).toMatch(
    /after its first phase, %:.*\| block 1 \| 27\.5 \[[\d., ]+\] \| 52\.5 /s,
  )
  expect(tables[1]).toContain('| block 1 | 50.0 [50.0, 50.0] |')
  expect(tables.join()).not.toContain('attention')
  const [slow, fast] = placeLines(own, found, 'blocks')?.lines ?? []
  expect([slow, fast].map(({ band }) => [band.at, band.middle])).toEqual([
    [[1], [0.25]],
    [[1], [0.5]],
  ])
  expect(placeLines(own, found, 'teacher')?.lines[0].band.middle).toEqual([0.5])
  expect(tables[2]).toMatch(/\| fast \| 30 \| 0\.5 \[0\.5, 0\.5\] \|/)
})
