import { expect, test } from 'vitest'
import { labStore } from '../../../page/state/store.ts'
import { ranked } from '../../kit/fuzzy.ts'
import { paletteEntries } from './entries.ts'

const found = (query: string) =>
  ranked(query, paletteEntries(labStore.getInitialState(), true), ({ name, also, bonus }) => ({
    text: name,
    also,
    bonus,
  })).map(({ item }) => item)

test('a method leads to its lesson and its experiments, and not to what has its letters by chance', () => {
  const ids = found('ppo').map(({ id }) => id)
  expect(ids).toContain('lesson-ppo')
  expect(ids.indexOf('lesson-ppo')).toBeLessThan(4)
  expect(ids).toContain('preset-tiny-ppo')
  expect(found('copy report').map(({ name }) => name)).toContain('Copy report')
  expect(found('ppo').map(({ name }) => name)).not.toContain('Copy report')
})

test('a setting that phases may have of their own is listed once', () => {
  const names = found('ppo epochs').filter(({ id }) => id.startsWith('setting-'))
  expect(names.map(({ name }) => name)).toEqual(['Epochs'])
})
