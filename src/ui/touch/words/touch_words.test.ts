import { expect, test } from 'vitest'
import type {
  Exchange,
  PartCost,
  PartCosts,
  Readings,
  Recovery,
  Steering,
} from '../../../host/protocol/touch.ts'
import { exchangeLines, exchangeSays, exchangeTable, stateNames } from './exchange_words.ts'
import { isTold, measuresOf, partsSay, partsTable } from './part_words.ts'
import {
  type Patched,
  patchingSays,
  patchingTable,
  placesIn,
  recoveryText,
  rowName,
} from './patch_words.ts'
import {
  columnNames,
  layerLines,
  layersTable,
  readingLines,
  readingOrigin,
  readingsSay,
  readingsTable,
  saidTable,
  saysNext,
} from './reading_words.ts'
import { steeringSays, steeringTable } from './steer_words.ts'
import {
  looksAt,
  looksTable,
  type Written,
  weightsSay,
  writingSays,
  writingTable,
} from './writing_words.ts'

const SURE = 0.05
const part = (
  where: PartCost['where'],
  layer: number,
  reward: number,
  logProb: number,
  head?: number,
): PartCost => ({
  where,
  layer,
  ...(head !== undefined && { head }),
  reward: { mean: reward, interval: SURE },
  log_prob: { mean: logProb, interval: SURE },
  entropies: [0, 0.1, -0.2].map((mean) => ({ mean, interval: SURE })),
})

const costs = (reward: readonly number[], untouched = 0.8): PartCosts => ({
  problems: 64,
  untouched: { reward: untouched, log_prob: -2, entropies: [3, 2, 1] },
  parts: [
    part('block', 1, reward[0], -3),
    part('attention', 1, reward[1], -2),
    part('head', 1, reward[2], -0.01, 0),
    part('feed_forward', 1, reward[3], -1),
  ],
})

test('the part that costs most is named, with its interval and how many are felt', () => {
  expect(partsSay(costs([-0.7, -0.5, -0.01, 0.2]))).toBe(
    'With everything on, the mean reward of 64 held-out problems is 0.8. Beside whole layers the attention of layer 1 matters most: without it the held-out reward changes by −0.5 ± 0.05. 2 of 4 parts cost something that these problems can show, after Holm’s correction for 4 comparisons.',
  )
})

test('where no reward can be lost, the log-prob of the right answer says it', () => {
  expect(partsSay(costs([0, 0, 0, 0], 0))).toMatch(
    /is 0\. No part costs a reward that they can show\. .* attention of layer 1 .* right answer changes by −2 ± 0\.05 nats\. 3 of 4/,
  )
  const nothing = { ...costs([0, 0, 0, 0], 0) }
  const parts = nothing.parts.map(({ log_prob: _, ...rest }) => rest)
  const untouched = { reward: 0, entropies: [3, 2, 1] }
  expect(partsSay({ ...nothing, parts, untouched })).toContain('No part costs anything')
})

test('what only an interval by itself excludes is not counted among many', () => {
  const parts = (count: number) => {
    const sure = part('attention', 1, -0.5, -2)
    const doubtful = part('feed_forward', 1, -0.052, -2)
    return partsSay({ ...costs([0, 0, 0, 0]), parts: [sure, ...Array(count).fill(doubtful)] })
  }
  expect(parts(1)).toContain('2 of 2 parts cost something')
  expect(parts(14)).toContain('1 of 15 parts cost something')
})

test('a difference within its interval is not told from none', () => {
  expect([0.04, -0.04, 0.06].map((mean) => isTold({ mean, interval: SURE }))).toEqual([
    false,
    false,
    true,
  ])
})

test('the table has a row for each part, and every measure with its interval', () => {
  const all = costs([-0.7, -0.5, -0.01, 0.2])
  expect(measuresOf(all).map(({ key }) => key)).toEqual([
    'reward',
    'log_prob',
    'entropy 0',
    'entropy 1',
    'entropy 2',
  ])
  const { columns, rows } = partsTable(all)
  expect(rows).toHaveLength(4)
  expect(columns).toHaveLength(1 + 2 * 5)
  expect(rows[2].slice(0, 3)).toEqual(['head 1 of layer 1', '−0.01', '0.05'])
})

const mixture = (name: string, accuracy: number, from: number) => ({
  name,
  accuracy,
  change: accuracy - from,
  interval: 0.1,
})
const exchange = (host: number, donor: number, upTo: readonly number[]): Exchange => ({
  host: 'a',
  donor: 'b',
  problems: 64,
  accuracy: { host, donor },
  mixtures: [
    mixture('block 1', upTo[0], host),
    ...upTo.map((accuracy, i) => mixture(`blocks up to ${i + 1}`, accuracy, host)),
    mixture('feed_forward 1', 0.2, host),
  ],
})
const look = { color: 'red', dash: [] }
const NAMES = stateNames([10, 50], undefined)
const BOTH = [exchange(0.1, 0.9, [0.15, 0.8]), exchange(0.9, 0.1, [0.95, 0.1])] as const

test('the block that brings the most is named, and the curve begins untouched and stays in [0, 1]', () => {
  expect(exchangeSays(BOTH, NAMES)).toBe(
    'The state of step 10 answers 10.0\u00a0% of 64 held-out problems, that of step 50 answers 90.0\u00a0%. Taken from below, layer 2 of step 50 brings the most, +65.0 points; with all layers step 10 answers 80.0\u00a0%.',
  )
  const none = [exchange(0.9, 0.1, [0.5, 0.1]), BOTH[1]] as const
  expect(exchangeSays(none, NAMES)).toContain('No layer of step 50')
  const [there, back] = exchangeLines(BOTH, NAMES, [look, look])
  expect(there).toMatchObject({ label: 'step 10, layers of step 50', middle: [0.1, 0.15, 0.8] })
  expect(back.high).toEqual([0.9, 1, 0.2])
  expect(Math.min(...Array.from(back.low ?? []))).toBe(0)
})

test('a state of another run has its name', () => {
  const [, label] = exchangeLines(BOTH, stateNames([10, 20], 'GRPO'), [look, look])
  expect(label.label).toBe('step 20 of “GRPO”, layers of step 10')
})

test('the table has every mixture, both ways round', () => {
  const { columns, rows } = exchangeTable(BOTH, NAMES)
  expect(columns).toHaveLength(7)
  expect(rows.map(([name]) => name)).toEqual([
    'nothing',
    'block 1',
    'blocks up to 1',
    'blocks up to 2',
    'feed-forward 1',
  ])
  expect(rows[3]).toEqual(['blocks up to 2', '0.8', '+0.7', '0.1', '0.1', '−0.8', '0.1'])
})

const recovery = (where: Recovery['where'], layer: number, values: number[], head?: number) => ({
  where,
  layer,
  ...(head !== undefined && { head }),
  recovery: values,
})
const PATCHED: Patched = {
  what: 'patching',
  step: 30,
  texts: { 1: '4', 2: '=', 3: '7', 5: '5', 6: '8' },
  patching: {
    pairs: [{ clean: [1, 2], corrupted: [3, 2], answer: 5, wrong: 6 }],
    tried: 8,
    logit_diff: { clean: 3, corrupted: -2 },
    places: [
      recovery('residual', 0, [1, 0]),
      recovery('residual', 1, [0.9, 0.1]),
      recovery('attention', 1, [0, 0.1]),
      recovery('feed_forward', 1, [-0.2, 0]),
      recovery('head', 1, [0, 0.05], 0),
      recovery('residual', 2, [0, 1]),
      recovery('attention', 2, [0, 0.8]),
      recovery('feed_forward', 2, [0, 0.1]),
      recovery('head', 2, [0, 0.75], 1),
    ],
  },
}

test('patching says where the answer sits, where it goes and what carries it', () => {
  expect(patchingSays(PATCHED)).toBe(
    'After step 30 the model tells 1 of 8 pairs of problems apart. What decides it sits at token 1: 4 / 7 in the embedding, from layer 2 on at token 2: =. Of the parts the attention of layer 2 at token 2: = brings back the most, 80\u00a0% of a difference of 5 in logits.',
  )
  const typed = { ...PATCHED, patching: { ...PATCHED.patching, tried: 1 } }
  expect(patchingSays(typed)).toContain('the answer is “5” to the clean text and “8” to the other')
})

test('the map has the last block on top, and the table every place', () => {
  const { patching } = PATCHED
  expect(placesIn(patching, 'residual').map(rowName)).toEqual([
    'after layer 2',
    'after layer 1',
    'embedding',
  ])
  expect(placesIn(patching, 'head').map(rowName)).toEqual(['layer 2 head 2', 'layer 1 head 1'])
  expect(recoveryText(-0.204)).toBe('−20\u00a0%')
  const { columns, rows } = patchingTable(PATCHED)
  expect(columns).toEqual(['exchanged', '1: 4 / 7', '2: ='])
  expect(rows).toHaveLength(patching.places.length)
  expect(rows[3]).toEqual(['the feed-forward of layer 1', '−0.2', '0'])
})

const WRITTEN: Written = {
  what: 'attribution',
  step: 40,
  sample: { prompt: '3=', response: '7', is_ended: false },
  prompt_length: 2,
  tokens: ['3', '=', '7'],
  attributed: {
    ids: [1, 2, 3],
    total: [0.5, 6],
    embed: [0.1, -1],
    attention: [
      [0.2, 4],
      [0, 1],
    ],
    feed_forward: [
      [0.1, 0.5],
      [0.1, 1.5],
    ],
    head: [
      [
        [0.1, 3.5],
        [0.1, 0.5],
      ],
      [
        [0, 0.2],
        [0, 0.8],
      ],
    ],
    looksAt: [
      [
        Float32Array.of(1, 0, 0, 0.75, 0.25, 0, 0, 0, 1),
        Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0, 0, 1),
      ],
      [Float32Array.of(1, 0, 0, 0.1, 0.9, 0, 0, 0, 1), Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1)],
    ],
  },
}

test('a token says what wrote it and where its heads looked', () => {
  expect(writingSays(WRITTEN, 2)).toBe(
    'With the weights after step 40, “7” has a logit 6 above the mean of all tokens. The attention of layer 1 adds the most of it, 4. Of the heads head 1 of layer 1 adds the most, 3.5, and looks mostly at token 1, “3” (75.0\u00a0%).',
  )
  expect(looksAt(WRITTEN, 2).map(({ shares }) => shares.length)).toEqual([2, 2, 2, 2])
  const { columns, rows } = writingTable(WRITTEN)
  expect(columns).toEqual(['adds', '2: =', '3: 7'])
  expect(rows.map(([name]) => name).slice(0, 5)).toEqual([
    'the embedding',
    'the attention of layer 1',
    'head 1 of layer 1',
    'head 2 of layer 1',
    'the feed-forward of layer 1',
  ])
  expect(looksTable(WRITTEN, 2).rows[2]).toEqual(['head 1 of layer 2', '0.1', '0.9'])
})

test('weights that did not write a token say so, and why it is these', () => {
  expect(weightsSay(44, 45)).toBe('with the weights after step 44')
  expect(weightsSay(27, 45)).toBe(
    'with the weights after step 27, the newest kept state before step 45. Its logit may differ from the one that wrote it.',
  )
  expect(weightsSay(60, 45)).toContain('after step 60, the oldest kept state. Its logit may differ')
})

test('of a logit below the mean the part is named that lowers it most', () => {
  const attributed = {
    ...WRITTEN.attributed,
    total: [0.5, -1.25],
    embed: [0.1, 0.25],
    attention: [
      [0.2, 0.125],
      [0, -0.25],
    ],
    feed_forward: [
      [0.1, 0],
      [0.1, -1.375],
    ],
    head: [
      [
        [0.1, 0.125],
        [0.1, 0],
      ],
      [
        [0, 0.05],
        [0, -0.3],
      ],
    ],
  }
  expect(writingSays({ ...WRITTEN, attributed }, 2)).toBe(
    'With the weights after step 40, “7” has a logit 1.25 below the mean of all tokens. The feed-forward of layer 2 lowers it most, by 1.38. Of the heads head 2 of layer 2 has the largest share, −0.3, and looks mostly at token 2, “=” (100.0\u00a0%).',
  )
})

test('the vector that raises the reward most is named, or the one that lowers it most', () => {
  const effect = (layer: number, strength: number, reward: number) => ({
    layer,
    strength,
    reward: { mean: reward, interval: SURE },
    entropies: [],
    examples: [],
  })
  const steering = (...rewards: readonly number[]): Steering => ({
    model_hash: 'sha256-0',
    made: 'made by hand',
    vectors: [],
    step: 7,
    file: new Uint8Array(),
    problems: 64,
    areOthers: false,
    untouched: { reward: 0.5, entropies: [] },
    effects: rewards.map((reward, i) => effect(1 + i, i === 0 ? -2 : 2, reward)),
  })
  const start =
    'After step 7, made by hand. The mean reward of 64 held-out problems is 0.5 without.'
  expect(steeringSays(steering(-0.3, 0.2))).toBe(
    `${start} layer 2 × 2 raises it most, by +0.2 ± 0.05.`,
  )
  expect(steeringSays(steering(-0.3, 0.01))).toBe(
    `${start} No vector raises it as far as these problems can show; layer 1 × −2 lowers it most, by −0.3 ± 0.05.`,
  )
  expect(steeringSays(steering(0.01, 0))).toBe(
    `${start} No vector changes it as far as these problems can show.`,
  )
  expect(steeringSays(steering(-0.3, -0.3, -0.1))).toContain(
    'layer 1 × −2, like one other, lowers it most',
  )
  expect(steeringSays(steering(0, 0.2, 0.2, 0.2))).toContain(
    'layer 2 × 2, like 2 others, raises it most, by +0.2',
  )
  expect(steeringSays({ ...steering(0.2), areOthers: true })).toContain(
    'The mean reward of 64 other held-out problems is 0.5 without.',
  )
  const trained = [
    { ...effect(1, 1, 0.1) },
    { ...effect(2, 1, -0.1) },
    { ...effect(1, 4, 0.4) },
    { ...effect(1, 1, 0.15), layer: 'all' as const },
  ]
  expect(steeringSays({ ...steering(), effects: trained })).toBe(
    `${start} All vectors at once, as they were trained, change it by +0.15 ± 0.05; of those alone layer 1 brings most, +0.1 ± 0.05.`,
  )
  const { columns, rows } = steeringTable(steering(0.1, 0.2))
  expect(columns).toEqual(['layer', 'strength', 'held-out reward, change', '± 95 %'])
  expect(rows[0]).toEqual(['1', '−2', '+0.1', '0.05'])
})

const READ: Readings = {
  files: { jacobian: 'j.safetensors' },
  states: [],
  settings: { texts: 2, held_out: 2, steps: 3, lr: 0.1, skip_first: 0 },
  tokens: { fitted: 20, held_out: 1234 },
  layers: [
    { layer: 0, readout: 'raw', kl: 2, entropy: 3 },
    { layer: 0, readout: 'normed', kl: 1.5, entropy: 2.5 },
    { layer: 0, readout: 'tuned', kl: 0.5, entropy: 1.5 },
    { layer: 0, readout: 'jacobian', kl: 1, entropy: 2 },
    { layer: 1, readout: 'normed', kl: -1e-9, entropy: 1 },
  ],
  texts: [
    {
      tokens: ['7', '7'],
      said: [
        { layer: 0, readout: 'tuned', top: ['1', '2'], probs: [0.25, 0.5] },
        { layer: 0, readout: 'raw', top: ['3', '4'], probs: [0.1, 0.2] },
        { layer: 1, readout: 'normed', top: ['7', 'end'], probs: [0.9, 0.8] },
      ],
    },
  ],
}

test('every reading has a line that ends in the final policy, and is named wherever it is drawn', () => {
  const looks = Array.from({ length: 4 }, () => ({ color: 'red', dash: [] }))
  const lines = readingLines(READ, 'kl', looks)
  expect(lines.map(({ label, middle }) => [label, middle])).toEqual([
    ['raw state', [2, 0]],
    ['normed state', [1.5, 0]],
    ['tuned lens', [0.5, 0]],
    ['Jacobian lens', [1, 0]],
  ])
  expect(readingsSay(READ, 9)).toMatch(
    /^After step 9, on 1,234 held-out tokens: the raw state of layer 0 is 2\.000 nats .* 0\.500 nats through a tuned lens and 1\.000 nats through a Jacobian lens\. What the lens/,
  )
  const { columns, rows } = readingsTable(READ)
  expect(columns[3]).toBe('KL from the final policy, tuned lens')
  expect(rows.map((row) => row.length)).toEqual([columns.length, columns.length])
})

test('a layer’s line over the states is of the reading that its title names', () => {
  const later = READ.layers.map((one) => ({ ...one, entropy: one.entropy / 2 }))
  const states = [
    { step: 2, layers: READ.layers },
    { step: 9, layers: later },
  ]
  const over = { ...READ, states }
  const lines = layerLines(over, 'jacobian', 'entropy', () => ({ color: 'red', dash: [] }))
  expect(lines.map(({ label, at, middle }) => [label, at, middle])).toEqual([
    ['layer 0', [2, 9], [2, 1]],
    ['final policy', [2, 9], [1, 0.5]],
  ])
  expect(readingOrigin(over, 'raw', 9)).toBe('raw state')
  expect(readingOrigin(over, 'tuned', 9)).toBe('tuned lens fitted after step 9')
  expect(readingOrigin(over, 'jacobian', 9)).toBe('Jacobian lens of the file j.safetensors')
  expect(layersTable(over, 'jacobian', 'entropy')).toEqual({
    columns: ['step', 'layer 0, Jacobian lens', 'final policy, Jacobian lens'],
    rows: [
      ['2', '2', '1'],
      ['9', '1', '0.5'],
    ],
  })
})

test('a layer’s next tokens stand under the final policy’s', () => {
  const [text] = READ.texts
  expect(columnNames(text)).toEqual(['1 7', '2 7'])
  expect(saysNext(text, 'tuned', 0, 1)).toMatch(/^layer 1, the final policy, .*"end" with 80/)
  expect(saysNext(text, 'tuned', 1, 0)).toMatch(
    /^layer 0, tuned lens, after token 1 "7": "1" with 25/,
  )
  expect(saidTable(text, 'raw').rows).toEqual([
    ['1', '7 0.9', 'end 0.8'],
    ['0', '3 0.1', '4 0.2'],
  ])
})
