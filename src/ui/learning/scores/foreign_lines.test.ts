import { expect, test } from 'vitest'
import { foreignLines, foreignMeans } from './foreign_lines.ts'

const labels = (...metrics: string[]) =>
  foreignLines(foreignMeans(metrics)).map(({ label, short }) => [label, short])

test('the only held-out mean of a log is called that', () => {
  expect(labels('critic/score/mean', 'val-core/openai/gsm8k/reward/mean@1')).toEqual([
    ['held-out, mean of answers', 'held-out'],
  ])
})

test('of several evaluations each has its line, named by what tells it from the others', () => {
  expect(labels('val-core/A/acc/mean@1', 'val-core/a set/B/acc/mean@1')).toEqual([
    ['held-out, “A”', '“A”'],
    ['held-out, “B”', '“B”'],
  ])
  // Those who made them are named where the sets have one name.
  expect(labels('val-core/a/B/acc/mean@1', 'val-core/b/B/acc/mean@1')).toEqual([
    ['held-out, “a/B”', '“a/B”'],
    ['held-out, “b/B”', '“b/B”'],
  ])
  expect(labels('val-core/A/acc/mean@1', 'val-core/A/reward/mean@1')).toEqual([
    ['held-out, “acc”', '“acc”'],
    ['held-out, “reward”', '“reward”'],
  ])
  expect(labels('val-core/A/acc/mean@8', 'val-core/B/acc/mean@1')).toEqual([
    ['held-out, “A mean@8”', '“A mean@8”'],
    ['held-out, “B mean@1”', '“B mean@1”'],
  ])
})

test('no two of their lines look alike', () => {
  const metrics = Array.from({ length: 8 }, (_, i) => `val-core/${i}/acc/mean@1`)
  const lines = foreignLines(foreignMeans(metrics))
  expect(new Set(lines.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(8)
})
