// A reader of stories understands every told one, and says what contradicts what in a spoilt one.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { trainBpe } from '../tokenizers/train_bpe.ts'
import merges from './merges.txt?raw'
import {
  aspectsOf,
  loadStoryTokenizer,
  storyProblems,
  storyTokenizer,
  VOCABULARY_STORIES,
} from './problems.ts'
import { readStory } from './read.ts'
import { lengthsOf, plotsOf, STORY_TOKENS } from './sizes.ts'
import { toldWords } from './slots.ts'
import { SHE_AND_HE } from './words/beings.ts'

const START = 'Once there was a small fox named Pip. He had a red kite.'
const TOLD =
  'One day, the kite was gone. Pip was sad and began to cry. Then an owl named Ruby came by. "I lost my kite," said Pip. They looked under the bed and in the hay. At last they found the kite in the hay. "Thank you, Ruby!" said Pip. And he took good care of the kite.'

const faultsOf = (text: string) => readStory(text).sentences.flatMap(({ faults }) => faults)

test('a story is read: who is in it, what happens, how it ends', () => {
  const reading = readStory(`${START} ${TOLD}`)
  expect(reading.sentences.map(({ beat }) => beat)).toEqual([
    'who',
    'has',
    'lose',
    'cry',
    'meet',
    'tell',
    'try',
    'solve',
    'joy',
    'happy_end',
  ])
  expect(reading.sentences.flatMap(({ faults }) => faults)).toEqual([])
  expect(reading).toMatchObject({ has_ended: true, mood: 'happy' })
  expect(reading.names).toMatchObject({ hero: 'Pip', kind: 'fox', friend: 'Ruby', thing: 'kite' })
})

describe('a contradiction is found and said', () => {
  test.for([
    [
      'another thing',
      TOLD.replace('the kite was gone', 'the drum was gone'),
      'drum was kite before',
    ],
    ['another name', TOLD.replace('said Pip', 'said Tom'), 'Tom was Pip before'],
    ['another pronoun', TOLD.replace('And he took', 'And she took'), 'its words do not agree'],
    ['an article', TOLD.replace('an owl', 'a owl'), 'its words do not agree'],
    ['a kind', TOLD.replace('an owl', 'a boy'), 'its words do not agree'],
    ['number', TOLD.replace('the kite was', 'the kite were'), 'its words do not agree'],
    [
      'a lost thing that is used',
      `${TOLD.split('. ')[0]}. He took it to the park.`,
      'the thing is lost',
    ],
    [
      'a thing that is found and was not lost',
      'At last they found the kite in the hay.',
      'nothing is lost',
    ],
    ['a friend who has not come', '"What is wrong?" asked Ruby.', 'no friend has come'],
    [
      'two of one name',
      TOLD.replace('named Ruby', 'named Pip').replace('Thank you, Ruby', 'Thank you, Pip'),
      'Pip is already the name of somebody else',
    ],
    ['what follows the end', `${TOLD} Pip was very happy.`, 'the story is over'],
    ['what is no sentence', `${TOLD} The the kite.`, 'it is no sentence that the stories use'],
  ] as const)('%s', ([, text, fault]) => {
    expect(faultsOf(`${START} ${text}`)).toContain(fault)
  })
})

describe('the task', () => {
  beforeAll(loadStoryTokenizer)
  const { words, seed, count } = VOCABULARY_STORIES

  test('every told story of every plot is understood, and ends', () => {
    for (let plots = 1; plots <= plotsOf(8).length; plots++) {
      const { sample, score } = storyProblems({ plots, words: 512 })
      for (let i = 0; i < 60; i++) {
        const { prompt, ground_truth } = sample(3, i, 'train')
        expect(faultsOf(prompt + ground_truth), prompt + ground_truth).toEqual([])
        expect(score(prompt, ground_truth)).toBe(1)
      }
    }
  })

  test('a prompt tells as much as is asked for, and never how the story comes out', () => {
    const [short, long] = [2, 12].map((told) => storyProblems({ plots: 8, words, told }))
    const { prompt: room, response } = lengthsOf(words, 12)
    for (let i = 0; i < 200; i++) {
      const [begun, told] = [short.sample(3, i, 'train'), long.sample(3, i, 'train')]
      expect(told.prompt + told.ground_truth).toBe(begun.prompt + begun.ground_truth)
      expect(told.prompt.length).toBeGreaterThan(begun.prompt.length)
      const beats = readStory(told.prompt).sentences.map(({ beat }) => beat)
      expect(beats).not.toContain('solve')
      expect(beats).not.toContain('fail')
      const next = readStory(told.prompt + told.ground_truth).sentences[beats.length].beat
      expect(['solve', 'fail']).toContain(next)
      expect(long.score(told.prompt, told.ground_truth)).toBe(1)
      expect(storyTokenizer()?.encode(told.prompt).length).toBeLessThanOrEqual(room)
      expect(storyTokenizer()?.encode(told.ground_truth).length).toBeLessThan(response)
    }
  })

  test('no friend is called as a hero is, whatever the number of words', () => {
    for (const most of [8, 16, 32, 512]) {
      const [heroes, friends] = [toldWords('hero', most), toldWords('friend', most)]
      expect(heroes.length).toBeGreaterThanOrEqual(4)
      expect(friends.length).toBeGreaterThanOrEqual(4)
      expect(heroes.filter((name) => friends.includes(name))).toEqual([])
    }
  })

  test('each prompt has one number: no kind is told by both of its forms', () => {
    for (const slot of ['kind', 'friend_kind'])
      for (const most of [16, 32, 512]) {
        const kinds = toldWords(slot, most)
        for (const [she, he] of SHE_AND_HE)
          expect(kinds.includes(she) && kinds.includes(he), `${she} and ${he}`).toBe(false)
      }
  })

  test('one sentence that does not fit takes its share, and a story without an end scores 0', () => {
    const { score } = storyProblems({ plots: 8, words })
    const wrong = ` ${TOLD.replace('Thank you, Ruby', 'Thank you, Tom')}`
    expect(score(START, wrong)).toBeCloseTo(9 / 10, 12)
    expect(score(START, ' One day, the kite was gone.')).toBe(0)
    expect(() => score('5+7=', '12')).toThrow('story: expected a prompt like Once there was')
  })

  test('what else is read of a story: whether it ends, how, and how many sentences fit', () => {
    const [end, rest] = [' And he took good care of the kite.', TOLD.split(' And he took')[0]]
    expect(aspectsOf(`${START} ${TOLD}`)).toEqual({
      has_end: 1,
      happy_end: 1,
      sad_end: 0,
      coherence: 1,
    })
    expect(aspectsOf(`${START} ${rest}`)).toMatchObject({ has_end: 0, happy_end: 0, coherence: 1 })
    expect(aspectsOf(`${START}${end}`)).toMatchObject({ happy_end: 1, coherence: 2 / 3 })
  })

  test('the vocabulary is what training on the first stories gives', () => {
    const { sample } = storyProblems({ plots: VOCABULARY_STORIES.plots, words })
    const texts = Array.from({ length: count }, (_, i) => {
      const { prompt, ground_truth } = sample(seed, i, 'train_set')
      return prompt + ground_truth
    })
    const files = trainBpe(texts, { vocab_size: STORY_TOKENS.vocab_size })
    expect(storyTokenizer()?.files).toEqual(files)
    expect(merges.split('\n').length).toBe(STORY_TOKENS.vocab_size - 258 + 1)
  })

  test('the model that comes with the page has the vocabulary of the task', () => {
    const own = JSON.parse(storyTokenizer()?.files?.['tokenizer.json'] ?? '')
    const its = JSON.parse(readFileSync('public/models/story/tokenizer.json', 'utf8'))
    expect([its.model.vocab, its.model.merges]).toEqual([own.model.vocab, own.model.merges])
  })

  test('thousands of stories are all different', () => {
    const { sample } = storyProblems({ plots: 8, words })
    const told = Array.from({ length: 2000 }, (_, i) => sample(1, i, 'train').ground_truth)
    expect(new Set(told).size).toBe(told.length)
  })
})
