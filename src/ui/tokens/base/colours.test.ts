import { expect, test } from 'vitest'
import type { TracedSample } from '../../../host/protocol/results.ts'
import {
  clipReach,
  isInPart,
  legendOf,
  missingReason,
  modeValue,
  rangeOf,
  shadeClass,
  stageOf,
  tracedEntropy,
} from './colours.ts'
import { traced } from './testing.ts'

const one = traced('1=', '12', 1, {
  advantages: [0.5, -2, 0],
  old_log_probs: [-0.5, -1, -2],
  log_probs_after: [-0.4, -1, -2.5],
  ratio: [1, 2, 0.5],
  clipped: [0, 1, 2],
  kld: [0, 0.1, 0.2],
  entropy: [0, 1, Number.NaN],
})
const classes = (mode: Parameters<typeof modeValue>[0], sample = one) => {
  const range = rangeOf(mode, [sample], { max_entropy: 3 })
  return sample.tokens.map((_, t) => shadeClass(mode, modeValue(mode, sample, t), range))
}

test('colours diverge about zero, ratios about one on a logarithmic scale', () => {
  expect(classes('advantages')).toEqual(['div-6', 'div-0', 'div-5'])
  expect(classes('ratio')).toEqual(['div-5', 'div-10', 'div-0'])
  expect(classes('moved')).toEqual(['div-6', 'div-5', 'div-0'])
})

test('surprises and entropies are sequential; a token without a number has no colour', () => {
  expect(classes('old_log_probs')).toEqual(['seq-3', 'seq-5', 'seq-10'])
  expect(classes('entropy')).toEqual(['seq-0', 'seq-3', ''])
  expect(classes('kl_ref')).toEqual(['seq-0', 'seq-5', 'seq-10'])
  expect(classes('clipped')).toEqual(['div-5', 'div-10', 'div-0'])
})

test('a KL estimate below zero makes its scale diverge; the KL in the reward takes the place of the loss’s', () => {
  const negative = traced('1=', '1', 0, { reward_kl: [-0.1, 0.2] })
  expect(classes('kl_ref', negative)).toEqual(['div-3', 'div-10'])
})

test('the number of a colour stands at the stage that computes it', () => {
  expect(stageOf('advantages', one)).toEqual({ stage: 4, column: 1 })
  expect(stageOf('old_log_probs', one)).toEqual({ stage: 2, column: 0 })
  expect(stageOf('kl_ref', one).stage).toBe(5)
  expect(stageOf('kl_ref', traced('1=', '1', 0, { reward_kl: [-0.1, 0.2] })).stage).toBe(3)
  // A column that the step does not fill, and what no stage computes.
  expect(stageOf('chosen', one)).toEqual({ stage: 5, column: 0 })
  expect(stageOf('layer_entropy', one)).toEqual({ stage: 0, column: 0 })
})

test('legends carry the numbers of their ends, and say when there is nothing to tell apart', () => {
  const legend = (mode: Parameters<typeof modeValue>[0], sample = one) => {
    const range = rangeOf(mode, [sample], { max_entropy: 3 })
    return range && legendOf(mode, range).texts
  }
  expect(legend('advantages')).toEqual(['−2', '0', '2'])
  expect(legend('ratio')).toEqual(['0.5', '1', '2'])
  expect(legend('old_log_probs')).toEqual(['0', '−2 nats'])
  expect(legend('entropy')).toEqual(['0', 'ln V = 3 nats'])
  expect(legend('clipped')).toHaveLength(3)
  expect(legend('ratio', traced('1=', '1', 0, { ratio: [1, 1] }))).toEqual(['1 on every token'])
  expect(legend('log_probs')).toBeUndefined()
})

test('a ratio far out leaves the colours of ordinary ones apart, and the legend says so', () => {
  const usual = Array.from({ length: 98 }, (_, i) => (i % 2 ? 1.25 : 0.9))
  const sample = { ...one, tokens: [...usual, 125, 0.008].map(String) }
  const ratios = (values: readonly number[], clip = 0) => {
    const told = { ...sample, columns: { ratio: values } }
    const range = rangeOf('ratio', [told], { max_entropy: 3, clip })
    if (!range) throw new Error('no range')
    const shades = values.map((ratio) => shadeClass('ratio', ratio, range))
    return { shades, texts: legendOf('ratio', range).texts }
  }
  const far = ratios([...usual, 125, 0.008])
  expect(far.texts).toEqual(['≤ 0.8', '1', '≥ 1.25'])
  expect(far.shades.slice(0, 2)).toEqual(['div-3', 'div-10'])
  expect(far.shades.slice(-2)).toEqual(['div-10', 'div-0'])
  // One side only, and no further than the clip where ratios are closer to 1.
  const near = Array.from({ length: 98 }, () => 1.01)
  const clip = clipReach({ clip_ratio_low: 0.2, clip_ratio_high: 0.2 })
  expect(ratios([...near, 1, 3], clip).texts).toEqual(['0.8', '1', '≥ 1.25'])
  // A bound that holds nothing back does not widen the scale.
  expect(clipReach({ clip_ratio_low: 10, clip_ratio_high: 10 })).toBe(0)
  expect(ratios([1, 1], clip).texts).toEqual(['1 on every token'])
})

test('advantages that are only rounding are drawn as none, and said to be', () => {
  const told = (score: number, left: number) =>
    traced('1=', '1', score, { advantages: [left, left] })
  const seen = (...samples: readonly TracedSample[]) => {
    const range = rangeOf('advantages', samples, { max_entropy: 3 })
    if (!range) throw new Error('no range')
    const shades = samples.map(({ columns }) =>
      shadeClass('advantages', columns.advantages?.[0], range),
    )
    return [...shades, ...legendOf('advantages', range).texts]
  }
  const alike = ['div-5', 'div-5', 'all answers scored alike: no advantage']
  expect(seen(told(1, 6.2e-7), told(1, 6.2e-7))).toEqual(alike)
  expect(seen(told(1, 0), told(1, 0))).toEqual(alike)
  // Groups that differ from each other, each without a difference.
  expect(seen(told(1, 0), told(0, 0)).at(-1)).toBe('0 on every token')
  expect(seen(told(1, 0.6), told(0, -0.6))).toEqual(['div-10', 'div-0', '−0.6', '0', '0.6'])
})

test('what a step did not compute has a reason', () => {
  expect(missingReason('kl_ref', 1, false)).toContain('no reference')
  expect(missingReason('clipped', 1, false)).toContain('no clip')
  expect(missingReason('ratio', 0, false)).toContain('Only the critic')
  expect(missingReason('layer_entropy', 1, false)).toContain(
    'were not measured when this step was traced',
  )
  expect(missingReason('layer_entropy', 1, false)).toContain('Steps that are traced while')
  expect(missingReason('layer_entropy', 1, true)).toContain('A look at a kept state')
})

test('the entropies of the layers that a step brought are those of its tokens, by read-out', () => {
  const layer_entropy = {
    raw: Float32Array.of(0, 1, 2, 3, 4, 5),
    normed: Float32Array.of(5, 4, 3, 2, 1, 0),
  }
  // '3' and the end token, three states each.
  const seen: TracedSample = { ...traced('1+2=', '3', 1), layer_entropy }
  expect(tracedEntropy(seen, 'raw', 0, 0)).toBe(0)
  expect(tracedEntropy(seen, 'raw', 1, 1)).toBe(4)
  // The last is the final policy, which reads its state through the norm.
  expect(tracedEntropy(seen, 'raw', 2, 1)).toBe(tracedEntropy(seen, 'normed', 2, 1))
  expect(tracedEntropy(seen, 'raw', 2, 1)).toBe(0)
  expect(tracedEntropy(seen, 'normed', 1, 1)).toBe(1)
  expect(tracedEntropy(seen, 'raw', 3, 0)).toBeUndefined()
  expect(tracedEntropy(seen, 'raw', 0, 2)).toBeUndefined()
  expect(tracedEntropy(one, 'raw', 0, 0)).toBeUndefined()
})

test('the entropy of a layer colours from 0 to ln V, where anybody looked', () => {
  const look = {
    layer: 1,
    readout: 'raw' as const,
    at: (sample: TracedSample, t: number) => (sample === one ? t / 2 : undefined),
    stepOf: () => 4,
  }
  expect(modeValue('layer_entropy', one, 2, look)).toBe(1)
  expect(rangeOf('layer_entropy', [one], { max_entropy: 3 }, look)).toEqual({
    scale: 'seq',
    end: 3,
  })
  expect(rangeOf('layer_entropy', [one], { max_entropy: 3 })).toBeUndefined()
  // One response alone was read by the lens: the others have no colour, for a reason.
  const other = traced('2=', '2', 1)
  expect(rangeOf('layer_entropy', [one, other], { max_entropy: 3 }, look)).toBeDefined()
  expect(isInPart([one, other], look)).toBe(true)
  expect(isInPart([one], look)).toBe(false)
  expect(isInPart([other], undefined)).toBe(false)
})
