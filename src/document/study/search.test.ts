// Searches, and measures that are read at a level.
import { expect, test } from 'vitest'
import { analyse } from './analysis.ts'
import { plannedRuns } from './queue.ts'
import { studyFiles } from './report/files.ts'
import { planStudy } from './search.ts'
import { parseStudy } from './study.ts'
import { decodeStudy } from './study_link.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from './testing.ts'

test('a search chooses by some seeds and judges by others', () => {
  const document = {
    ...DOCUMENT,
    arms: [],
    grid: { 'actor.optim.lr': { from: 0.0001, to: 0.01, count: 2, scale: 'log' } },
    search: { kind: 'halving', arms: 8, finalists: 2 },
    seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  }
  const study = studyOf(document)
  const arms = armsOf(document)
  expect(arms).toHaveLength(8)
  const known: ReturnType<typeof madeUpResult>[] = []
  const stages: string[] = []
  for (;;) {
    const plan = planStudy(study, arms, known)
    if (plan.runs.length === 0) {
      const judged = plan.compared
      expect(judged.study.seeds).toEqual([5, 6, 7, 8])
      // The two highest rates, because accuracy was made to rise with them.
      const rates = arms
        .map(({ settings }) => Number(settings['actor.optim.lr']))
        .sort((a, b) => b - a)
      expect(judged.arms.map(({ settings }) => settings['actor.optim.lr'])).toEqual(
        rates.slice(0, 2),
      )
      // Its report links the search, not its last round.
      const analysis = analyse(judged.study, judged.arms, known)
      const report = studyFiles(judged.study, analysis, [], study).get('report.md') ?? ''
      expect(decodeStudy(/&study=([\w-]+)/.exec(report)?.[1] ?? '')).toEqual({ ok: true, study })
      break
    }
    stages.push(`${plan.stage}: ${plan.runs.length}`)
    for (const run of plan.runs)
      known.push(madeUpResult(study, run, 0.5 + 40 * Number(run.arm.settings['actor.optim.lr'])))
  }
  expect(stages).toEqual([
    'choosing, round 1: 8 settings × 2 seeds: 16',
    'choosing, round 2: 4 settings × 4 seeds: 8',
    'judging: 2 settings × 4 new seeds, which took no part in choosing: 8',
  ])
})

test('a search that says so chooses by fewer seeds, and by arm how many settings meet', () => {
  const grid = { 'actor.optim.lr': [0.0001, 0.001, 0.01] }
  const document = {
    ...DOCUMENT,
    arms: [
      { name: 'GRPO', grid, finalists: 1 },
      { name: 'other', set: { 'rollout.n': 8 }, grid },
    ],
    search: { kind: 'random', arms: 3, finalists: 2, choosing: 1 },
    baseline: 'GRPO',
  }
  const study = studyOf(document)
  const known = planStudy(study, armsOf(document), []).runs.map((run) =>
    madeUpResult(study, run, 0.5 + 40 * Number(run.arm.settings['actor.optim.lr'])),
  )
  expect(known.map(({ seed }) => seed)).toEqual([1, 1, 1, 1, 1, 1])
  const { compared } = planStudy(study, armsOf(document), known)
  expect(compared.arms.map(({ name }) => name)).toEqual([
    'GRPO, lr 0.01',
    'other, lr 0.01',
    'other, lr 0.001',
  ])
  expect(compared.study.seeds).toEqual([2, 3, 4])
  const all = { ...document, search: { ...document.search, choosing: 4 } }
  expect(parseStudy(all)).toMatchObject({ ok: false, issues: [{ path: 'search.choosing' }] })
})

test('a measure at a level is read where every arm of the seed has come to it', () => {
  const document = {
    ...DOCUMENT,
    seeds: [1],
    measure: { metric: 'score', at: 'level', reaches: 'acc/greedy' },
  }
  const study = studyOf(document)
  const runs = plannedRuns(study, armsOf(document))
  // Accuracy 0.5, 0.6, 0.7 of the one and 0.5, 0.7, 0.9 of the other; the score falls from 1 to 0
  // in both.
  const known = runs.map((run, i) => {
    const made = madeUpResult(study, run, [0.7, 0.9][i])
    const score: [number, number][] = [
      [10, 1],
      [20, 0.5],
      [30, 0],
    ]
    return { ...made, series: { ...made.series, score } }
  })
  const { arms } = analyse(study, armsOf(document), known)
  expect(arms.map(({ mean }) => mean)).toEqual([0, 0.5])
  expect(parseStudy({ ...document, measure: { metric: 'score', at: 'level' } }).ok).toBe(false)
})
