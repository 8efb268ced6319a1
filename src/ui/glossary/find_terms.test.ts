// Terms in texts, and a catalogue whose entries can be found, are told apart, and lead to lessons
// that exist.
import { expect, test } from 'vitest'
import { translateWith } from '../kit/translator.ts'
import { lessonOf } from '../lessons/lessons.ts'
import { meaningIn, piecesOf } from './find_terms.ts'
import { otherWord, TERMS } from './terms.ts'

const termsIn = (text: string) => piecesOf(text).flatMap(({ term }) => term ?? [])

test('each term is found once, the longer one first, and the pieces are the text', () => {
  const text =
    'KL of the reward model’s policy: nats per token, by Policies of groups; no rewarding.'
  expect(termsIn(text)).toEqual(['kl', 'reward-model', 'policy', 'nat', 'token', 'group'])
  const whole = piecesOf(text).map((piece) => piece.text)
  expect(whole.join('')).toBe(text)
  expect(termsIn('REINFORCE++ with advantages')).toEqual(['reinforce', 'advantage'])
  expect(piecesOf('nothing here')).toEqual([{ text: 'nothing here' }])
  expect(piecesOf('')).toEqual([])
  expect(
    termsIn('Names such as rollout.n, critic/score and algorithm.kl: no terms. A rollout.'),
  ).toEqual(['rollout'])
  // What an inner layer is read from, and what its parts do to the entropy.
  expect(termsIn('Raw state, or ΔH_FFN: raw write less the block’s own input')).toEqual([
    'raw-state',
    'entropy-change',
    'layer',
    'own-input',
  ])
  // Of a list, where a text before it has the term already.
  expect(piecesOf('the policy', 'a policy')).toEqual([{ text: 'the policy' }])
})

test('a character of Chinese is a term where it stands alone', () => {
  translateWith({
    locale: 'zh-CN',
    text: (text) => (text === 'group' ? '组' : text === 'policy' ? '策略' : text),
    props: (_, props) => props,
  })
  expect(termsIn('由注意力组成，分组的策略')).toEqual(['policy'])
  expect(termsIn('组')).toEqual(['group'])
  translateWith(undefined)
})

test('the name of a method has its meaning in a sentence', () => {
  expect(meaningIn('REINFORCE++')).toMatch(/^\n\nREINFORCE\+\+: No groups and no critic/)
  expect(meaningIn('something else')).toBe('')
})

test('every entry has an id of its own, words of its own, and a lesson that exists', () => {
  const ids = TERMS.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const words = TERMS.flatMap((term) => term.words ?? [term.name]).map((word) => word.toLowerCase())
  expect(new Set(words).size).toBe(words.length)
  const names = TERMS.map(({ name }) => name.toLowerCase())
  expect(names).toEqual([...names].sort())
  for (const { name, says, lesson } of TERMS) {
    expect(says, name).toMatch(/\.$/)
    if (lesson !== undefined) expect(lessonOf(lesson), name).toBeDefined()
  }
})

test('a term is titled by the word that was pressed, where its name is another one', () => {
  expect(otherWord('warm start', 'Imitation')).toBe('Warm start')
  expect(otherWord('never trained on', 'Held-out')).toBe('Never trained on')
  for (const word of ['Policies', 'policy', 'final policy'])
    expect(otherWord(word, 'Policy')).toBeUndefined()
  expect(otherWord('reinforcement', 'Reinforcement learning')).toBeUndefined()
})
