import { expect, test } from 'vitest'
import gallery from '../../../page/study/gallery.json' with { type: 'json' }
import { type Analysis, analyse } from '../analysis.ts'
import { plannedRuns } from '../queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../testing.ts'
import { answerSentence, foundOf, joinNumbered, measuredSentence } from './answer.ts'

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

const RATES = [0.001, 0.002, 0.003, 0.004, 0.005]
const MANY = {
  ...DOCUMENT,
  arms: [
    { name: 'whole' },
    ...RATES.map((lr, i) => ({ name: `layer ${i + 1}`, set: { 'actor.optim.lr': lr } })),
  ],
  seeds: [1, 2, 3, 4, 5, 6],
}

/** The answer of a study whose arms end at these accuracies, with a little of a seed's own. */
function answerOf(document: object, ends: Readonly<Record<string, number>>): string {
  const [study, arms] = [studyOf(document), armsOf(document)]
  const results = plannedRuns(study, arms).map((run) =>
    madeUpResult(study, run, ends[run.arm.name] + ((run.seed * 7 + run.arm.name.length) % 5) / 500),
  )
  return answerSentence(study, analyse(study, arms, results))
}

test('one arm is said with its size, its interval and its seeds, above or below the other', () => {
  const six = { ...DOCUMENT, seeds: MANY.seeds }
  expect(answerOf(six, { slow: 0.5, fast: 0.8 })).toMatch(
    /^fast ended 30\.\d points above slow \[\d+\.\d, \d+\.\d\], with 6 seeds\.$/,
  )
  expect(answerOf(six, { slow: 0.8, fast: 0.5 })).toMatch(
    /^fast ended (\d+\.\d) points below slow \[\d+\.\d, \d+\.\d\], with 6 seeds\.$/,
  )
  const area = { ...six, measure: { metric: 'acc/greedy', at: 'area' } }
  expect(answerOf(area, { slow: 0.5, fast: 0.8 })).toMatch(/^fast came out \d+\.\d points above/)
  const lower = { ...six, measure: { metric: 'acc/greedy', goal: 'lower' } }
  expect(answerOf(lower, { slow: 0.5, fast: 0.8 })).toContain('], with 6 seeds. Lower is better.')
  expect(answerOf(six, { slow: 0.7, fast: 0.7 })).toMatch(
    /^No difference between fast and slow was found in held-out accuracy \(greedy\): 0\.0 \[0\.0, 0\.0\] points, with 6 seeds\.$/,
  )
  const margin = { ...six, measure: { metric: 'acc/greedy', equal_within: 0.05 } }
  expect(answerOf(margin, { slow: 0.7, fast: 0.7 })).toMatch(
    /^fast and slow are equal within 5\.0 points: .*, with 6 seeds\.$/,
  )
})

test('a name with a comma is quoted, so that the sentence can be read', () => {
  const [slow, fast] = DOCUMENT.arms
  const arms = [{ ...slow, name: 'slow, then slower' }, fast]
  const ends = { 'slow, then slower': 0.5, fast: 0.8 }
  expect(answerOf({ ...DOCUMENT, arms, seeds: MANY.seeds }, ends)).toMatch(
    /^fast ended .* points above “slow, then slower” \[/,
  )
})

test('many arms are said by what was found, in one name or counted, with how far they differ', () => {
  const low = { 'layer 1': 0.5, 'layer 2': 0.52, 'layer 3': 0.54 }
  expect(answerOf(MANY, { ...low, whole: 0.7, 'layer 4': 0.7, 'layer 5': 0.9 })).toMatch(
    /^Better than whole by \d+\.\d \[.*\] points: layer 5\. Worse than whole by \d+\.\d to \d+\.\d points: layers 1–3\. No difference found, .* points: layer 4\. 6 seeds\.$/,
  )
  const named = RATES.map((lr, i) => ({
    name: `rate ${'ABCDE'[i]}`,
    set: { 'actor.optim.lr': lr },
  }))
  const letters = { ...MANY, arms: [{ name: 'whole' }, ...named] }
  const ends = Object.fromEntries([['whole', 0.9], ...named.map(({ name }) => [name, 0.6])])
  expect(answerOf(letters, ends)).toMatch(
    /^Worse than whole by 30\.\d .*points: 5 of 5 arms\. 6 seeds/,
  )
  const same = Object.fromEntries(Object.keys(ends).map((name) => [name, 0.7]))
  expect(answerOf(letters, same)).toMatch(
    /^No difference from whole was found in held-out accuracy \(greedy\): .* points, with 6 seeds\.$/,
  )
})

test('no answer in the list of the lab’s studies is longer than three lines of it', () => {
  expect(Math.max(...gallery.map(({ answer }) => answer.length))).toBeLessThan(240)
})

test('a large difference that Holm’s correction takes away is not said to be none without it', () => {
  const study = studyOf(MANY)
  const of = (name: string, p: number, verdict: 'worse' | 'none', mean: number) => ({
    arm: { name, group: name },
    comparison: { pairs: study.seeds, p, verdict, mean },
  })
  const say = (p: number) =>
    answerSentence(study, {
      arms: [
        { arm: { name: 'whole', group: 'whole' } },
        of('a', 0.001, 'worse', -0.03),
        of('b', p, 'none', -0.05),
      ],
      baseline: 'whole',
      metric: 'val-aux/x/acc/greedy',
    } as unknown as Analysis)
  expect(say(0.03)).toContain('No difference found after Holm’s correction, −5.0 points: b.')
  expect(say(0.3)).toContain('No difference found, −5.0 points: b.')
})

test('an interval without 0 that no difference was found in is said to be corrected', () => {
  const of = (name: string, p: number) => ({
    arm: { name, group: name },
    comparison: { pairs: [1, 2, 3], p, verdict: 'none', mean: 0.08 },
  })
  const say = (...all: readonly number[]) =>
    answerSentence(studyOf(MANY), {
      arms: [{ arm: { name: 'whole', group: 'whole' } }, ...all.map((p, i) => of(`b${i}`, p))],
      baseline: 'whole',
      metric: 'val-aux/story/happy_end/mean@2',
    } as unknown as Analysis)
  const found = 'was found in held-out happy end (2 samples) after Holm’s correction: '
  expect(say(0.03)).toContain(`No difference between b0 and whole ${found}`)
  expect(say(0.03, 0.3)).toContain(`No difference from whole ${found}`)
  expect(say(0.3)).not.toContain('Holm')
})

test('the measure is named, and a span of several arms is not taken for an interval', () => {
  const study = studyOf(MANY)
  const say = (...verdicts: readonly string[]) =>
    measuredSentence(study, {
      arms: [{}, ...verdicts.map((verdict) => ({ comparison: { verdict } }))],
      metric: 'val-aux/x/acc/greedy',
    } as unknown as Analysis)
  expect(say('too few', 'too few')).toBeUndefined()
  const measured = 'Measured: held-out accuracy (greedy), at the end of the budget.'
  expect(say('none')).toBe(measured)
  expect(say('worse', 'none', 'too few')).toBe(measured)
  expect(say('none', 'none')).toContain(`${measured} Two numbers with “to” between them`)
})

test('what was found is said in a word: equal is not the same as undecided', () => {
  expect(foundOf(['no difference found', 'too few'])).toBe('undecided')
  expect(foundOf(['no difference found', 'equal'])).toBe('equal')
  expect(foundOf(['equal', 'worse'])).toBe('differs')
  expect(foundOf([])).toBe('undecided')
})
