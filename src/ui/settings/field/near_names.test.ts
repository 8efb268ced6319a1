import { expect, test } from 'vitest'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { PRESETS } from '../../../document/presets/presets.ts'
import { editDistance, nearQueries } from './near_names.ts'

const texts = experimentFields(PRESETS[0].experiment).map(
  ({ label, path, help }) => `${label} ${path} ${help}`,
)

test('a letter that is missing, added, changed or swapped with the next is one', () => {
  expect(editDistance('entropy', 'entropy')).toBe(0)
  for (const word of ['entrpy', 'entroopy', 'entrapy', 'netropy'])
    expect(editDistance(word, 'entropy'), word).toBe(1)
  expect(editDistance('', 'abc')).toBe(3)
})

test('a mistyped word is offered as the settings have it, the likeliest first', () => {
  expect(nearQueries('entrpy', texts)).toEqual(['entropy'])
  expect(nearQueries('leraning rate', texts)[0]).toBe('learning rate')
  expect(nearQueries('temprature', texts)[0]).toBe('temperature')
  // Only what is wrong is changed, also in a path; and a word that the explanations alone have.
  expect(nearQueries('trian_batch_size', texts)[0]).toBe('train_batch_size')
  expect(nearQueries('refernce', texts)[0]).toBe('reference')
})

test('what is like no word suggests none, and there are never many', () => {
  for (const query of ['zzzz', 'no such thingummy', '', '  ', '?!', 'entropy'])
    expect(nearQueries(query, texts), query).toEqual([])
  const found = nearQueries('sampels', ['samples', 'sampled', 'sample', 'sampler'])
  expect(found.length).toBeLessThanOrEqual(3)
  expect(new Set(found).size).toBe(found.length)
})
