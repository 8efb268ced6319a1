import { expect, test } from 'vitest'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { PRESETS } from '../../../document/presets/presets.ts'
import { editDistance, nearLabels } from './near_names.ts'

const fields = experimentFields(PRESETS[0].experiment).map(({ label, path }) => ({
  label,
  names: [label, path],
}))

test('a letter that is missing, added, changed or swapped with the next is one', () => {
  expect(editDistance('entropy', 'entropy')).toBe(0)
  for (const word of ['entrpy', 'entroopy', 'entrapy', 'netropy'])
    expect(editDistance(word, 'entropy'), word).toBe(1)
  expect(editDistance('', 'abc')).toBe(3)
})

test('a mistyped name finds the nearest ones', () => {
  expect(nearLabels('leraning rate', fields)[0]).toMatch(/^Learning rate/)
  expect(nearLabels('Leraning', fields)[0]).toMatch(/^Learning rate/)
  expect(nearLabels('entrpy', fields).join()).toMatch(/entropy/i)
  expect(nearLabels('temprature', fields)[0]).toMatch(/temperature/i)
  // By its path, too.
  expect(nearLabels('trian_batch_size', fields).length).toBeGreaterThan(0)
})

test('what is like no name suggests none, and there are never many', () => {
  for (const query of ['zzzz', 'no such thing', '', '  ', '?!'])
    expect(nearLabels(query, fields), query).toEqual([])
  const found = nearLabels('learnin', fields)
  expect(found.length).toBeLessThanOrEqual(3)
  expect(new Set(found).size).toBe(found.length)
})
