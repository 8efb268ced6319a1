// What a study will do is said before it is made: its base, its arms, its runs and its measure.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { armsOf, DOCUMENT, studyOf } from '../../../document/study/testing.ts'
import { BaseLine } from './BaseLine.tsx'
import { PlanPreview } from './PlanPreview.tsx'

const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

test('the plan has its arms, its runs with their time, and its measure', () => {
  const [study, arms] = [studyOf(DOCUMENT), armsOf(DOCUMENT)]
  const plan = textOf(
    renderToStaticMarkup(<PlanPreview study={study} arms={arms} runs={8} time="about 3 min" />),
  )
  expect(plan).toContain('slow 30 1, 2, 3, 4 fast 30 1, 2, 3, 4')
  expect(plan).toContain('2 arms × 4 seeds. 8 runs in all, about 3 min on this machine.')
  expect(plan).toContain('fixed beforehand: held-out accuracy (greedy), at the end of the budget')
})

test('the base is the nearest preset, with what differs from it', () => {
  const wordsOf = (base: unknown) =>
    textOf(renderToStaticMarkup(<BaseLine study={studyOf({ ...DOCUMENT, base })} />))
  expect(wordsOf('first-run')).toContain('from “First run with GRPO” as it is.')
  expect(wordsOf(DOCUMENT.base)).toMatch(/All arms begin from “.*”, with .*16 prompts per step/)
  expect(wordsOf({ phases: [] })).not.toContain('begin')
})
