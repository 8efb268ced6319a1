import { expect, test } from 'vitest'
import { labStore } from '../../../page/state/store.ts'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import { foundEntries, paletteEntries } from './entries.ts'

const found = (query: string) =>
  foundEntries(query, paletteEntries(labStore.getInitialState(), true)).map(({ item }) => item)

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

test('a setting is found by the name that verl or TRL has for it', () => {
  const first = (query: string) => found(query)[0]?.id
  expect(first('actor_rollout_ref.actor.optim.lr')).toBe('setting-actor.optim.lr')
  expect(first('--data.train_batch_size=32')).toBe('setting-rollout.train_batch_size')
  expect(first('+actor_rollout_ref.rollout.n')).toBe('setting-rollout.n')
  expect(first('algorithm.adv_estimator')).toMatch(/^setting-phases\.\d\.adv_estimator$/)
  expect(first('num_generations')).toBe('setting-rollout.n')
})

test('in Chinese each heading stands once, and the language is found', () => {
  const texts = allTexts()
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  })
  const groups = paletteEntries(labStore.getInitialState(), false).map(({ group }) => group)
  const heads = groups.filter((group, i) => group !== groups[i - 1])
  expect(heads).toEqual([...new Set(heads)])
  expect(found('语言')[0]?.id).toBe('language')
  translateWith(undefined)
})
