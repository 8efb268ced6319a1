import { expect, test } from 'vitest'
import {
  computeDataMetrics,
  computeThroughputMetrics,
  computeTimingMetrics,
  type DataMetricsInput,
} from './data_metrics.ts'

/** Two prompts columns, three response columns; rows of 3, 1 and 0 response tokens. */
const lengths = {
  prompt_length: 2,
  response_length: 3,
  attention_mask: [0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0],
}
const batch: DataMetricsInput = {
  ...lengths,
  token_level_scores: [0, 0, 5, 1, 0, 0, 0, 0, 100],
  token_level_rewards: [-1, 0, 5, 0.5, 0, 0, 0, 0, 100],
  advantages: [1, 2, 99, -3, 99, 99, 99, 99, 99],
  returns: [2, 4, 99, 0, 99, 99, 99, 99, 99],
  values: [1, 1, 99, 1, 99, 99, 99, 99, 99],
  // the third token is an observation
  response_mask: [1, 1, 0, 1, 0, 0, 0, 0, 0],
}

test('scores of rows with a response, tokens with mask 1, and lengths, by hand', () => {
  const metrics = computeDataMetrics(batch)
  expect(metrics).toMatchObject({
    'critic/score/mean': 3,
    'critic/score/max': 5,
    'critic/score/min': 1,
    'critic/rewards/mean': 2.25,
    'critic/advantages/mean': 0,
    'critic/advantages/max': 2,
    'critic/advantages/min': -3,
    'critic/returns/mean': 2,
    'critic/values/mean': 1,
    'response_length/mean': 4 / 3,
    'response_length/min': 0,
    'response_length/max': 3,
    'response_length/clip_ratio': 1 / 3,
    'response_length_non_aborted/mean': 2,
    'response_length_non_aborted/min': 1,
    'response_length_non_aborted/clip_ratio': 0.5,
    'response/aborted_ratio': 1 / 3,
    'prompt_length/mean': 4 / 3,
    'prompt_length/clip_ratio': 1 / 3,
  })
  // returns - values = 1, 3, -1 (variance 4); returns 2, 4, 0 (variance 4)
  expect(metrics['critic/vf_explained_var']).toBeCloseTo(1 - 4 / (4 + 1e-5), 14)
})

test('a perfect critic explains everything', () => {
  const perfect = computeDataMetrics({ ...batch, values: batch.returns })
  expect(perfect['critic/vf_explained_var']).toBe(1)
})

test('without a critic there are no value metrics; what is masked does not matter', () => {
  const { values: _, ...rest } = batch
  const metrics = computeDataMetrics(rest)
  expect(Object.keys(metrics).filter((name) => /values|vf/.test(name))).toEqual([])
  const nan = Array.from(batch.advantages, (a) => (a === 99 ? Number.NaN : a))
  const hidden = computeDataMetrics({ ...rest, advantages: nan })
  expect(hidden).toEqual(metrics)
})

test('metrics of tokens are absent when none or too few are left', () => {
  const none = computeDataMetrics({ ...batch, response_mask: new Float32Array(9) })
  expect(Object.keys(none).filter((name) => /advantages|returns|values|vf/.test(name))).toEqual([])
  const one = computeDataMetrics({ ...batch, response_mask: [1, 0, 0, 0, 0, 0, 0, 0, 0] })
  expect(one['critic/values/mean']).toBe(1)
  expect(one).not.toHaveProperty(['critic/vf_explained_var'])
})

test('without a response, scores and lengths of responses are absent', () => {
  const empty = computeDataMetrics({ ...batch, attention_mask: new Uint8Array(15).fill(0) })
  expect(empty['response/aborted_ratio']).toBe(1)
  expect(Object.keys(empty).filter((name) => /score|rewards|non_aborted/.test(name))).toEqual([])
})

test('wrong shapes are refused by name', () => {
  expect(() => computeDataMetrics({ ...batch, returns: [1] })).toThrow(/returns: expected 3 x 3/)
  expect(() => computeDataMetrics({ ...batch, attention_mask: [1] })).toThrow(/rows of 2 \+ 3/)
})

test('time per token counts responses for generation and everything else for the rest', () => {
  // 4 response tokens, 8 in all
  expect(computeTimingMetrics(lengths, { gen: 2, update_actor: 4, step: 7 })).toEqual({
    'timing_s/gen': 2,
    'timing_s/update_actor': 4,
    'timing_s/step': 7,
    'timing_per_token_ms/gen': 500,
    'timing_per_token_ms/update_actor': 500,
  })
})

test('throughput is tokens per second per GPU', () => {
  expect(computeThroughputMetrics(lengths, { step: 2 }, 2)).toEqual({
    'perf/total_num_tokens': 8,
    'perf/time_per_step': 2,
    'perf/throughput': 2,
  })
  expect(() => computeThroughputMetrics(lengths, {})).toThrow(/timing_raw.step/)
})
