// The pictures of a study: bands end where the measure ends.
import { expect, test } from 'vitest'
import { analyse } from '../analysis.ts'
import { boundsOf } from '../bounds.ts'
import { plannedRuns } from '../queue.ts'
import { clamped, tInterval } from '../statistics/student.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../testing.ts'
import { studyFiles } from './files.ts'
import { curveLines, profileLines } from './lines.ts'
import { studyPictures } from './pictures.ts'
import { armSentence, bandSentence } from './words.ts'

const study = studyOf()
const arms = armsOf()
/** Nearly all right answers, but for one seed: a t interval of the mean reaches beyond 1. */
const results = plannedRuns(study, arms).map((run) =>
  madeUpResult(study, run, run.seed === 1 ? 0.7 : 1),
)
const analysis = analyse(study, arms, results)

/** The highest value that an area of the picture reaches, by its axis of values. */
function highest(svg: string): number {
  const ticks = [...svg.matchAll(/y="([\d.]+)" text-anchor="end">([\d.]+) %</g)].map(
    ([, y, value]) => ({ y: Number(y) - 4, value: Number(value) / 100 }),
  )
  const [low, high] = [ticks[0], ticks[ticks.length - 1]]
  const areas = [...svg.matchAll(/<path d="M([^"Z]+)Z"/g)].map(([, path]) => path)
  expect(areas.length).toBeGreaterThan(0)
  const ys = areas.flatMap((path) => path.split('L').map((point) => Number(point.split(' ')[1])))
  const share = (Math.min(...ys) - low.y) / (high.y - low.y)
  return low.value + share * (high.value - low.value)
}

test('the band of an accuracy ends at 1, and so does the interval of its mean', () => {
  expect(tInterval([0.7, 1, 1, 1])?.high).toBeGreaterThan(1)
  expect(clamped(tInterval([0.7, 1, 1, 1]), boundsOf('val-aux/a/acc/greedy'))?.high).toBe(1)
  expect(highest(studyPictures(study, analysis).get('curves.svg') ?? '')).toBeLessThan(1.005)
  for (const { t } of analysis.arms) expect(t?.high).toBeLessThanOrEqual(1)
})

test('two seeds have a range and no interval, and the words say so', () => {
  const two = results.filter(({ seed }) => seed < 3)
  const found = analyse(study, arms, two)
  const [{ band }] = curveLines(study, found).lines
  expect([band.low.at(-1), band.high.at(-1)]).toEqual([0.7, 1])
  expect(bandSentence(found.arms)).toContain('from its lowest to its highest seed')
  for (const arm of found.arms)
    expect([arm.t, arm.comparison?.t, arm.comparison?.bootstrap]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  expect(armSentence(found.arms[1], found)).toContain('too few seeds to say (0.0 points, 2 seeds).')
  const files = studyFiles(study, found)
  const text = (name: string) => files.get(name) ?? ''
  const [heads, ...rows] = text('table.csv').trim().split('\n')
  for (const [i, name] of heads.split(',').entries())
    if (name.startsWith('p_')) for (const row of rows) expect(row.split(',')[i], name).toBe('')
  expect(text('report.md')).not.toMatch(/p 0\.|p 1/)
  expect(text('forest.svg')).toContain('>too few seeds<')
  const mixed = analyse(study, arms, [...two, ...results.filter(({ arm }) => arm === 'slow')])
  expect(bandSentence(mixed.arms)).toContain('of an arm with fewer than 3 seeds so far')
  expect(bandSentence(analysis.arms)).toBe(
    'The band of a curve is the 95 % interval of that arm’s own mean.',
  )
})

test('lines of different numbers of seeds say theirs, and lines of as many do not', () => {
  expect(curveLines(study, analysis).lines.map(({ n }) => n)).toEqual(arms.map(() => undefined))
  const some = results.filter(({ arm, seed }) => arm === 'slow' || seed === 1)
  const fewer = analyse(study, arms, some)
  expect(curveLines(study, fewer).lines.map(({ n }) => n)).toEqual([4, 1])
  expect(studyPictures(study, fewer).get('curves.svg')).toContain('>slow (n = 4)<')
})

test('where runs end begins at the lowest one, and a name has the median of its runs', () => {
  const drawn = profileLines(analysis)
  expect(drawn?.lines.map(({ value }) => value)).toEqual(arms.map(() => '100.0 %'))
  expect(Math.min(...(drawn?.lines.flatMap(({ band }) => band.at) ?? []))).toBeCloseTo(0.7, 4)
  const svg = studyPictures(study, analysis).get('profiles.svg') ?? ''
  const below = [...svg.matchAll(/text-anchor="middle">([^<]+)</g)].map(([, text]) => text)
  expect(below).toEqual(['70 %', '80 %', '90 %', '100 %'])
})

test('only what is bounded is cut', () => {
  const shares = ['val-core/a/acc/mean@4', 'val-aux/a/pass@8/mean', 'actor/pg_clipfrac']
  for (const metric of shares) expect(boundsOf(metric), metric).toEqual({ low: 0, high: 1 })
  expect(boundsOf('layer/entropy/3')).toEqual({ low: 0, high: Number.POSITIVE_INFINITY })
  for (const metric of ['critic/score/mean', 'actor/ppo_kl', 'actor/loss'])
    expect(boundsOf(metric).low, metric).toBe(Number.NEGATIVE_INFINITY)
  const wide = { low: -2, high: 3 }
  expect(clamped(wide, boundsOf('critic/score/mean'))).toEqual(wide)
  expect(clamped(undefined, boundsOf('acc/greedy'))).toBeUndefined()
})

test('beside an arm that is equal stands its margin, and no p of a difference', () => {
  const own = studyOf({ ...DOCUMENT, measure: { metric: 'acc/greedy', equal_within: 0.05 } })
  const alike = plannedRuns(own, arms).map((run) => madeUpResult(own, run, 0.7))
  const picture = studyPictures(own, analyse(own, arms, alike)).get('forest.svg') ?? ''
  expect(picture).toContain('>equal within 5.0 points</text>')
  expect(picture).not.toMatch(/equal[^<]*, p /)
})
