import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { analyse } from '../../document/study/analysis.ts'
import { plannedRuns } from '../../document/study/queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { Findings } from './Findings.tsx'

test('what was measured of the states is drawn; nothing is drawn of what was not', () => {
  const [study, arms] = [studyOf(DOCUMENT), armsOf(DOCUMENT)]
  const plain = plannedRuns(study, arms).map((run) => madeUpResult(study, run, run.seed / 10))
  const page = (results: typeof plain) => {
    const analysis = analyse(study, arms, results)
    return renderToStaticMarkup(<Findings study={study} analysis={analysis} changes={[]} />)
  }
  const states: (typeof plain)[number]['series'] = {
    'inside/start_with/blocks_up_to_1/acc': [[30, 0.25]],
    'inside/start_with/blocks_up_to_2/acc': [[30, 0.5]],
    'inside/teacher_kl/1': [[30, 0.7]],
  }
  const measured = plain.map((result) => ({ ...result, series: { ...result.series, ...states } }))
  const [before, after] = [page(plain), page(measured)]
  for (const title of ['accuracy of the start with blocks 1 to k', 'KL(teacher ‖ policy']) {
    expect(before).not.toContain(title)
    expect(after).toContain(title)
  }
})
