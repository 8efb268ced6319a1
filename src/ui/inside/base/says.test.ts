import { expect, test } from 'vitest'
import { columnsOf } from '../../shown/testing.ts'
import { observationOf, seenAt } from '../testing.ts'
import {
  cosineSays,
  deltaSays,
  entropySays,
  flowSays,
  heatSays,
  momentSays,
  passSays,
  targetSays,
} from './says.ts'

test('of one moment it is said where the entropy falls most on its way up', () => {
  const at = (raw: number[], normed: number[]) =>
    momentSays(seenAt(45, observationOf({ ent_layer_raw: raw, ent_layer_norm: normed })))
  expect(at([3, 2.5, 9], [9, 9, 0.5])).toBe(
    'At step 45, the only one that was looked at, the entropy falls most from layer 1 (2.5 nats) to the final policy (0.5 nats).',
  )
  expect(at([3, 1, 9], [9, 9, 0.5])).toContain('from the embedding (3 nats) to layer 1 (1 nats)')
  expect(at([1, 2, 9], [9, 9, 3])).toBe('At step 45 no layer is surer than the one below it.')
  expect(momentSays(seenAt(45, observationOf()))).toBeUndefined()
})

test('the layer that decides most is named, and where the model ends', () => {
  expect(flowSays(seenAt(9, observationOf({ ent_layer_norm: [1.5, 2.5, 0.5] })))).toBe(
    'At step 9, in normed states, layer 2 decides most: entropy falls from 2.5 to 0.5 nats there, and the model ends at 0.5 nats.',
  )
  expect(flowSays(seenAt(9, observationOf({ ent_layer_norm: [1.5, 0.5, 0.75] })))).toBe(
    'At step 9 no layer after the first lowers the entropy; the model ends at 0.75 nats.',
  )
  expect(flowSays(seenAt(9, observationOf()))).toBeUndefined()
  // A fall that no digit shows is none.
  expect(flowSays(seenAt(9, observationOf({ ent_layer_norm: [3.26, 3.2512, 3.2511] })))).toBe(
    'At step 9 no layer after the first changes the entropy much; the model ends at 3.25 nats.',
  )
})

test('layers that raise the entropy are told from the largest change', () => {
  const change = (dH_attn: number[], dH_ffn: number[]) =>
    deltaSays(seenAt(9, observationOf({ dH_attn, dH_ffn, dH_layer: [0, 0] })))
  expect(change([0.1, -0.2], [0.3, -1.25])).toBe(
    'At step 9 the feed-forward raises the entropy in layer 1; layer 2’s feed-forward changes the entropy most, −1.25 nats from its own input to what it writes.',
  )
  expect(change([2, 0.1], [-0.3, -0.1])).toBe(
    'At step 9 layer 1’s attention changes the entropy most, +2 nats from its own input to what it writes; no feed-forward raises it clearly.',
  )
  expect(change([0, 0], [0.3, 0.5])).toContain('in layers 1 and 2;')
  // What is no rise for the suggested layer is none here.
  expect(change([0, 0], [0.004, 0.5])).toContain('in layer 2;')
  expect(deltaSays(seenAt(9, observationOf()))).toBeUndefined()
})

test('what goes along the stream and what goes against it', () => {
  expect(cosineSays(observationOf({ cos_attn: [0.1, 0.6], cos_ffn: [-0.4, 0.2] }))).toBe(
    'The attention of layer 2 adds most to what is there (cosine 0.6); the feed-forward of layer 1 takes most away (−0.4).',
  )
  expect(cosineSays(observationOf({ cos_attn: [0.1, 0.6], cos_ffn: [0.4, 0.2] }))).toContain(
    'none takes anything away',
  )
  expect(cosineSays(observationOf({ cos_attn: [-0.1], cos_ffn: [-0.4] }))).toContain(
    'No block adds to',
  )
  // What is near a right angle takes nothing away that the figure would call so.
  expect(cosineSays(observationOf({ cos_attn: [0.04, 0.6], cos_ffn: [-0.0441, 0.2] }))).toContain(
    'none takes much away (the feed-forward of layer 1 most, −0.0441)',
  )
  expect(cosineSays(observationOf({ cos_attn: [0.04], cos_ffn: [-0.4] }))).toContain(
    'No block adds much to what is there (the attention of layer 1 most, cosine 0.04)',
  )
})

const before = seenAt(
  0,
  observationOf({
    ent_layer_raw: [3, 3, 3],
    ent_layer_norm: [3, 3, 2.75],
    cos_hidden: [1, 0.5, 0.1, 0.5, 1, 0.2, 0.1, 0.2, 1],
    logp_next_layer_norm: [0, 0, -Math.log(8)],
    dH_layer: [0.5, 0.25],
  }),
)
const after = seenAt(
  40,
  observationOf({
    ent_layer_raw: [3, 2.5, 1],
    ent_layer_norm: [3, 2.5, 0.75],
    cos_hidden: [1, 0.5, 0.1, 0.5, 1, 0.75, 0.1, 0.75, 1],
    logp_next_layer_norm: [0, 0, -Math.log(2)],
    dH_layer: [-0.5, 0.25],
  }),
)

test('a layer against the others is told from the first observation on, and not from later ones', () => {
  expect(targetSays([before, after], after, 1)).toBe(
    'From step 0 to 40 the cosine of layer 1 with the last layer rose from 0.2 to 0.75; the final policy’s perplexity on response tokens in the training batch, at temperature 1, fell from 8 to 2. Layer 1 changes the entropy by −0.5 nats now.',
  )
  const ofNoName = [before, after].map(({ step, item: { rows: _, ...item } }) => seenAt(step, item))
  expect(targetSays(ofNoName, ofNoName[1], 1)).toContain(
    'perplexity on these tokens, at temperature 1, fell from 8 to 2.',
  )
  expect(targetSays([before, after], before, 1)).toBe(
    'At step 0 the cosine of layer 1 with the last layer is 0.2. Layer 1 changes the entropy by +0.5 nats now.',
  )
  expect(targetSays([], seenAt(3, observationOf()), 1)).toBeUndefined()
  // What hardly moved did not change clearly.
  const { item } = before
  const hardly = seenAt(
    40,
    observationOf({
      ...item.mean,
      cos_hidden: [1, 0.5, 0.1, 0.5, 1, 0.201, 0.1, 0.201, 1],
      logp_next_layer_norm: [0, 0, -Math.log(8.1)],
    }),
  )
  expect(targetSays([before, hardly], hardly, 1)).toContain(
    'the cosine of layer 1 with the last layer did not change clearly: 0.2, then 0.201; the final policy’s perplexity on response tokens in the training batch, at temperature 1, did not change clearly: 8, then 8.1.',
  )
})

test('the layer whose policy changed most is named', () => {
  expect(heatSays([before, after], after)).toBe(
    'From step 0 to 40 the final policy changed most: it fell from 2.750 to 0.750 nats.',
  )
  expect(heatSays([before, after], before)).toContain('At step 0, the first that was observed')
  expect(heatSays([], seenAt(3, observationOf()))).toBeUndefined()
})

test('entropy over the run has its ends and its lowest point', () => {
  const columns = columnsOf([3, 0.5, 1])
  expect(entropySays(columns, undefined)).toBe(
    'From step 0 to 2 it fell from 3 to 1 nats; it was lowest at step 1, 0.5 nats.',
  )
  expect(entropySays(columns, 1)).toBe('From step 0 to 1 it fell from 3 to 0.5 nats.')
  expect(entropySays(columns, 0)).toBe('At step 0 it is 3 nats.')
  expect(entropySays(columnsOf([]), undefined)).toBeUndefined()
})

test('one try and many tries, now and at first', () => {
  const curve = (name: 'first' | 'now', step: number, values: readonly number[]) => ({
    name,
    step,
    points: values.map((value, i) => ({ k: 4 ** i, value, step })),
  })
  const [first, now] = [curve('first', 0, [0.25, 0.5]), curve('now', 30, [0.75, 0.8])]
  expect(passSays([first, now])).toBe(
    'At step 30 one try solves 75.0\u00a0% (25.0\u00a0% at step 0), and one of 4 tries solves 80.0\u00a0% (50.0\u00a0% at step 0).',
  )
  expect(passSays([now])).toBe(
    'At step 30 one try solves 75.0\u00a0%, and one of 4 tries solves 80.0\u00a0%.',
  )
  expect(passSays([])).toBeUndefined()
})
