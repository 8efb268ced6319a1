import { expect, test } from 'vitest'
import { chartOfLog } from './log_notes.ts'
import { moreCharts } from './more_charts.ts'

/** What a step of PPO with the KL in the loss tells, beside an evaluation with eight samples to
 * each problem. */
const PPO = [
  'actor/pg_loss',
  'actor/kl_loss',
  'critic/vf_loss',
  'critic/vf_explained_var',
  ...['values', 'advantages', 'returns', 'rewards'].flatMap((name) =>
    ['mean', 'max', 'min'].map((what) => `critic/${name}/${what}`),
  ),
  ...['gen', 'values', 'update_actor', 'testing', 'step'].map((stage) => `timing_s/${stage}`),
  'val-aux/sort_digits/acc/greedy',
  'val-core/sort_digits/acc/mean@8',
  'val-core/sort_digits/acc/best@8/mean',
  'val-core/sort_digits/acc/maj@8/mean',
  'val-core/sort_digits/acc/best@8/std',
  ...[2, 4].flatMap((k) =>
    ['best', 'worst', 'maj'].map((what) => `val-aux/sort_digits/acc/${what}@${k}/mean`),
  ),
  'val-core/sort_digits/reward/best@8/mean',
]

const chartsOf = (metrics: readonly string[]) =>
  moreCharts(metrics, false).flatMap(({ charts }) => charts)
const linesOf = (metrics: readonly string[], id: string) =>
  chartsOf(metrics)
    .find((chart) => chart.id === id)
    ?.lines.map(({ metric }) => metric)

test('a chart is there where the run has measured one of its lines, and has no other lines', () => {
  expect(moreCharts([], false)).toEqual([])
  const shown = chartsOf(PPO)
  const drawn = shown.flatMap(({ lines }) => lines.map(({ metric }) => metric))
  expect(drawn.filter((metric) => !PPO.includes(metric))).toEqual([])
  expect(shown.map(({ id }) => id)).toEqual([
    'policy-loss',
    'loss-kl',
    'critic-loss',
    'explained-variance',
    'values',
    'advantages',
    'returns',
    'rewards',
    'best-of-n',
    'majority-of-n',
    'stage-times',
  ])
  // GRPO has no critic, and nobody's KL is measured.
  const grpo = PPO.filter((name) => !/critic\/v|kl_loss/.test(name))
  expect(chartsOf(grpo).map(({ id }) => id)).not.toContain('values')
  expect(chartsOf(grpo).some(({ id }) => /critic|explained|loss-kl/.test(id))).toBe(false)
})

test('several answers are lines by their number, from one answer on', () => {
  const val = (name: string) => `val-${name}`
  expect(linesOf(PPO, 'best-of-n')).toEqual(
    ['core/sort_digits/acc/mean@8', 'aux/sort_digits/acc/best@2/mean']
      .concat(['aux/sort_digits/acc/best@4/mean', 'core/sort_digits/acc/best@8/mean'])
      .map(val),
  )
  expect(linesOf(PPO, 'majority-of-n')?.at(-1)).toBe('val-core/sort_digits/acc/maj@8/mean')
  // Numbers, not texts: 16 comes behind 8.
  const sixteen = [16, 2, 8].map((k) => `val-aux/sort_digits/acc/best@${k}/mean`)
  const labels = chartsOf(sixteen)[0].lines.map(({ label }) => label)
  expect(labels).toEqual(['best@2', 'best@8', 'best@16'])
  // One answer alone has no best.
  expect(linesOf(['val-core/sort_digits/acc/mean@1'], 'best-of-n')).toBeUndefined()
})

test('stages have plain names and lines of their own; one that nobody named keeps its own', () => {
  const [{ lines }] = chartsOf([
    'timing_s/step',
    'timing_s/gen',
    'timing_s/adv',
    'timing_s/new_one',
  ])
  expect(lines.map(({ label }) => label)).toEqual([
    'whole step',
    'sampling',
    'advantages',
    'new_one',
  ])
  const many = Array.from({ length: 16 }, (_, i) => `timing_s/stage_${i}`)
  const looks = chartsOf(many)[0].lines.map(({ color, dash }) => `${color} ${dash}`)
  expect(new Set(looks).size).toBe(many.length)
})

test('of a log a chart says what its trainer means by a metric, or nothing', () => {
  const of = (id: string, kind: string, metrics: readonly string[] = ['actor/kl_loss']) => {
    const chart = chartsOf(PPO).find((one) => one.id === id)
    const { title, note } = chartOfLog(chart ?? chartsOf(PPO)[0], kind, metrics)
    return [title, note]
  }
  expect(of('policy-loss', 'trl')).toEqual(['Loss', expect.stringMatching(/beta times the KL/)])
  expect(of('loss-kl', 'trl_console')).toEqual([
    'KL to the reference',
    expect.stringMatching(/^TRL’s kl/),
  ])
  // Supervised training has no KL.
  expect(of('policy-loss', 'trl', ['actor/pg_loss'])).toEqual(['Loss', undefined])
  expect(of('policy-loss', 'verl')).toEqual(['Policy loss', undefined])
  expect(of('critic-loss', 'csv')).toEqual(['Critic’s loss', undefined])
  expect(of('policy-loss', 'lab')[1]).toMatch(/without entropy and KL/)
})
