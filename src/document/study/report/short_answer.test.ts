import { expect, test } from 'vitest'
import gallery from '../../../page/study/gallery.json' with { type: 'json' }
import { analyse } from '../analysis.ts'
import { plannedRuns } from '../queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../testing.ts'
import { joinNumbered, shortAnswer, shortenAnswer } from './short_answer.ts'
import { answerSentence } from './words.ts'

test('names that differ by a number that rises by one are said as one', () => {
  expect(joinNumbered(['layer 1 alone', 'layer 2 alone', 'layer 3 alone', 'DPO'])).toEqual([
    'layers 1–3 alone',
    'DPO',
  ])
  expect(joinNumbered(['BuPO, layer 2 first', 'BuPO, layer 3 first'])).toEqual([
    'BuPO, layers 2–3 first',
  ])
  const apart = ['k = 1', 'k = 3', 'layer 4 alone', 'layer 5 first', 'lr 0.1', 'lr 0.2', 'lr 1e-3']
  expect(joinNumbered(apart)).toEqual(apart)
})

test('many arms are said shortly: in one name where they have one, else counted', () => {
  const layers = (from: number, to: number, word: string) =>
    Array.from({ length: to - from + 1 }, (_, i) => `layer ${from + i} ${word}`).join('; ')
  expect(
    shortenAnswer(
      `Worse than whole model: ${layers(1, 6, 'alone')}. No difference found: ${layers(1, 5, 'first')}.`,
    ),
  ).toBe('Worse than whole model: layers 1–6 alone. No difference found: layers 1–5 first.')
  expect(
    shortenAnswer(
      'Equal to GRPO within 3.0 points: final policy, blocks 1 to 3. No difference found: a; b; c; d.',
    ),
  ).toBe(
    'Equal to GRPO within 3.0 points: final policy, blocks 1 to 3. No difference found: 4 of 5 arms.',
  )
  const whole = 'No difference from GRPO was found in held-out accuracy (4 samples).'
  expect(shortenAnswer(whole)).toBe(whole)
})

test('no answer in the list of the lab’s studies is longer than three lines of it', () => {
  const short = gallery.map(({ answer }) => shortenAnswer(answer))
  expect(Math.max(...short.map(({ length }) => length))).toBeLessThan(180)
  for (const [i, { answer }] of gallery.entries())
    expect(short[i].split(/(?<=\.) (?=[A-Z])/).length).toBe(
      answer.split(/(?<=\.) (?=[A-Z])/).length,
    )
})

test('a study’s answer is shortened as its report’s words are', () => {
  const [study, arms] = [studyOf({ ...DOCUMENT, seeds: [1, 2, 3, 4, 5, 6] }), armsOf(DOCUMENT)]
  const results = plannedRuns(study, arms).map((run) =>
    madeUpResult(study, run, 0.2 + run.seed / 100 + (run.arm.name === 'fast' ? 0.3 : 0)),
  )
  const analysis = analyse(study, arms, results)
  // One arm alone has its difference beside it.
  expect(shortAnswer(study, analysis)).toBe('Better than slow: fast (+30.0 [+30.0, +30.0] points).')
  expect('Better than slow: fast.').toBe(shortenAnswer(answerSentence(study, analysis)))
})
