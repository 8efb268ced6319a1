// Which arms of a study have curves, and in which colours.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { analyse } from '../../../document/study/analysis.ts'
import { plannedRuns } from '../../../document/study/queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../../document/study/testing.ts'
import { ArmChoice, firstArms, looksOf, MOST_LINES } from './ArmChoice.tsx'

function analysed(count: number) {
  const rates = Array.from({ length: count }, (_, i) => (i + 1) / 1000)
  const grid = { 'actor.optim.lr': rates }
  const document = { ...DOCUMENT, arms: [], grid, seeds: [1, 2, 3] }
  const [study, arms] = [studyOf(document), armsOf(document)]
  // The last arms end highest.
  const results = plannedRuns(study, arms).map((run) =>
    madeUpResult(study, run, 0.5 + arms.indexOf(run.arm) / 100),
  )
  return { study, analysis: analyse(study, arms, results) }
}

test('of twelve arms the baseline and the seven best are drawn, each in a colour of its own', () => {
  const { study, analysis } = analysed(12)
  const names = analysis.arms.map(({ arm }) => arm.name)
  const chosen = firstArms(analysis, study.measure)
  expect(chosen).toEqual([names[0], ...names.slice(5)])
  const lower = firstArms(analysis, { ...study.measure, goal: 'lower' })
  expect(lower).toEqual(names.slice(0, MOST_LINES))
  const looks = [...looksOf(analysis, chosen).values()]
  expect(new Set(looks.map(({ color }) => color)).size).toBe(MOST_LINES)
  const page = renderToStaticMarkup(
    <ArmChoice analysis={analysis} chosen={chosen} onChoose={() => {}} />,
  )
  expect(page.match(/type="checkbox"/g)).toHaveLength(12)
  expect(page.match(/disabled=""/g)).toHaveLength(4)
})

test('few arms are all drawn, and there is nothing to choose', () => {
  const { study, analysis } = analysed(4)
  const chosen = firstArms(analysis, study.measure)
  expect(chosen).toHaveLength(4)
  expect(
    renderToStaticMarkup(<ArmChoice analysis={analysis} chosen={chosen} onChoose={() => {}} />),
  ).toBe('')
})
