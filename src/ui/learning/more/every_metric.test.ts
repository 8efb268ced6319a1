import { expect, test } from 'vitest'
import { boardChart, isFoundBy, metricChart, otherMetrics } from './every_metric.ts'
import { moreCharts } from './more_charts.ts'

const METRICS = ['actor/pg_loss', 'layer/entropy/2', 'layer/entropy/0', 'perf/mfu', 'loss']

test('every metric that no list draws is offered once, by the first part of its name', () => {
  const groups = moreCharts(METRICS, false)
  expect(otherMetrics(METRICS, groups)).toEqual([
    ['layer', ['layer/entropy/0', 'layer/entropy/2']],
    ['other', ['loss']],
    ['perf', ['perf/mfu']],
  ])
})

test('a chart is found by the words of its title, its note and its metrics', () => {
  const [{ charts }] = moreCharts(METRICS, false)
  expect(isFoundBy('policy loss', charts[0])).toBe(true)
  expect(isFoundBy('pg_loss', charts[0])).toBe(true)
  expect(isFoundBy('Entropy 2', metricChart('layer/entropy/2'))).toBe(true)
  expect(isFoundBy('entropy 3', metricChart('layer/entropy/2'))).toBe(false)
})

test('the board has charts of the lists by their ids, and metrics by their names', () => {
  const groups = moreCharts(METRICS, false)
  expect(boardChart('policy-loss', groups).title).toBe('Policy loss')
  expect(boardChart('perf/mfu', groups)).toMatchObject({ id: 'metric-perf-mfu', title: 'mfu' })
  // What the run has not measured yet keeps its place.
  expect(boardChart('critic/vf_loss', groups).lines[0].metric).toBe('critic/vf_loss')
})
