import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { analyse } from '../../document/study/analysis.ts'
import { plannedRuns } from '../../document/study/queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { ArmsTable, FurtherMeasures } from './ArmsTable.tsx'

test('a further primary measure has its sentence, its answer and its table; what is equal is called so', () => {
  const seeds = [1, 2, 3, 4, 5, 6]
  const also = [{ metric: 'acc/greedy', at: 'last', equal_within: 0.05 }]
  const document = { ...DOCUMENT, seeds, also }
  const [study, arms] = [studyOf(document), armsOf(document)]
  const results = plannedRuns(study, arms).map((run) =>
    madeUpResult(study, run, 0.7 + (run.arm.name === 'fast' ? 0.004 * (run.seed % 3) - 0.003 : 0)),
  )
  const analysis = analyse(study, arms, results)
  const drawn = { study, analysis, arms, isFixed: false }
  const page = renderToStaticMarkup(<FurtherMeasures {...drawn} />)
  expect(page.match(/data-testid="study-table"/g)).toHaveLength(1)
  expect(page).toContain('the mean of its last five values within the budget')
  expect(page).toContain(
    'fast and slow are equal within 5.0 points: +0.1 [−0.1, +0.2], with 6 seeds.',
  )
  expect(page).toContain('equal within the margin')
  expect(renderToStaticMarkup(<ArmsTable {...drawn} />)).not.toContain('equal within')
  // Of the baseline nothing is found, and no mark of it is drawn.
  expect(page).not.toContain('study-found')
})

test('every arm but the baseline can be taken out, and none of a study of the lab', () => {
  const document = { ...DOCUMENT, arms: [...DOCUMENT.arms, { name: 'third', set: { seed: 9 } }] }
  const [study, arms] = [studyOf(document), armsOf(document)]
  const drawn = { study, analysis: analyse(study, arms, []), arms }
  const buttons = (isFixed: boolean) =>
    renderToStaticMarkup(<ArmsTable {...drawn} isFixed={isFixed} />).match(/title="Take [^"]*/g)
  expect(buttons(false)).toEqual([
    'title="Take fast out of the study',
    'title="Take third out of the study',
  ])
  expect(buttons(true)).toBeNull()
})
