// What is said of a file that is opened as a study and is none.
import { expect, test } from 'vitest'
import { parseStudy } from '../../../document/study/study.ts'
import { DOCUMENT } from '../../../document/study/testing.ts'
import { fileProblems } from './NewStudy.tsx'

const said = (document: unknown) => {
  const parsed = parseStudy(document)
  return parsed.ok ? [] : fileProblems('junk.json', document, parsed.issues)
}

test('a file of something else is no study file, in one sentence', () => {
  for (const document of [{ a: 1 }, [1, 2], 7, null])
    expect(said(document)).toEqual([
      '“junk.json” is not a study file: it has no question, no seeds and no measure.',
    ])
  expect(said(undefined)).toEqual([
    '“junk.json” is not a study file: it is neither JSON nor the .zip of a report.',
  ])
})

test('of a study with a mistake that is said first, and then the mistake', () => {
  const [first, ...others] = said({ ...DOCUMENT, seeds: [1, 1], base: 3 })
  expect(first).toBe('“junk.json” is not a whole study file, so it was not opened:')
  expect(others).toEqual(['base: expected an experiment or the id of a preset'])
})
