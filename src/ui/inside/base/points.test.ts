import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Observation, ObservedValues } from '../../../host/protocol/observation.ts'
import { FLOW, observationOf } from '../testing.ts'
import { perplexity } from './history.ts'
import {
  cosinePoints,
  deltaBands,
  flowAt,
  flowPoints,
  flowWays,
  normPoints,
  policyEntropies,
  similarityPoints,
} from './points.ts'

test('the flow goes from what enters a layer over its writes to what leaves it', () => {
  const points = flowPoints(observationOf(FLOW), 'raw')
  expect(points.map(({ layer, place, value }) => [layer, place, value])).toEqual([
    [1, 'input', 3],
    [1, 'attention', 3.1],
    [1, 'feed-forward', 2.1],
    [1, 'output', 2],
    [2, 'input', 2],
    [2, 'attention', 3.2],
    [2, 'feed-forward', 2.2],
    [2, 'output', 1],
  ])
  expect(points.some(({ isGrey }) => isGrey)).toBe(false)
  const at = points.map(flowAt)
  expect(at[0]).toBe(0.625)
  expect(at).toEqual([...at].sort((a, b) => a - b))
  expect(new Set(at.map((x) => Math.round(x)))).toEqual(new Set([1, 2]))
})

test('states are one way, and what a block writes stands beside it', () => {
  const { states, stems } = flowWays(flowPoints(observationOf(FLOW), 'raw'))
  expect(states.map(([, value]) => value)).toEqual([3, 2, 2, 1])
  expect(stems.map(({ place }) => place)).toEqual([
    'attention',
    'feed-forward',
    'attention',
    'feed-forward',
  ])
  // A third of the way from 3 to 2.
  const [[from, state], [to, write]] = stems[0].points
  expect(from).toBe(to)
  expect(state).toBeCloseTo(3 - 1 / 3, 12)
  expect(write).toBe(3.1)
})

test('normed, states are read through the norm, writes are as they were, and only the embedding is grey', () => {
  const points = flowPoints(observationOf(FLOW), 'normed')
  expect(points.map(({ value }) => value)).toEqual([1.5, 3.1, 2.1, 2.5, 2.5, 3.2, 2.2, 0.5])
  expect(points.map(({ isGrey }) => isGrey).indexOf(true)).toBe(0)
  expect(points.filter(({ isGrey }) => isGrey)).toHaveLength(1)
})

test('the policy of a layer is read from its raw state, the final one through the norm', () => {
  expect(policyEntropies(FLOW)).toEqual([3, 2, 0.5])
  expect(policyEntropies({ ent_layer_raw: [3, 2, 1] })).toBeUndefined()
})

test('what was not measured gives no points', () => {
  const { ent_attn_out: _, ...without } = FLOW
  expect(flowPoints(observationOf(without), 'raw')).toEqual([])
  expect(deltaBands(observationOf(), 'layer')).toEqual([])
  expect(cosinePoints(observationOf())).toEqual({ attention: [], feed_forward: [] })
  expect(similarityPoints(observationOf(), 1)).toEqual([])
})

test('bands reach one standard deviation to both sides, and are absent where it is unknown', () => {
  const mean = { dH_attn: [1, -0.5], dH_ffn: [0.25, 0] }
  const observation = observationOf(mean, { std: { dH_attn: [0.5, 0.25] } })
  expect(deltaBands(observation, 'attention')).toEqual([
    { layer: 1, mean: 1, low: 0.5, high: 1.5 },
    { layer: 2, mean: -0.5, low: -0.75, high: -0.25 },
  ])
  expect(deltaBands(observation, 'feed-forward')).toEqual([
    { layer: 1, mean: 0.25, low: undefined, high: undefined },
    { layer: 2, mean: 0, low: undefined, high: undefined },
  ])
})

test('states begin at layer 0, writes at layer 1', () => {
  const observation = observationOf({
    norm_hidden: [1, 2, 3],
    norm_attn_out: [0.1, 0.2],
    norm_ffn_out: [0.3, 0.4],
  })
  const { hidden, attention, feed_forward } = normPoints(observation)
  expect(hidden.map(([layer]) => layer)).toEqual([0, 1, 2])
  expect(attention).toEqual([
    [1, 0.1],
    [2, 0.2],
  ])
  expect(feed_forward[0]).toEqual([1, 0.3])
})

test('similarity is the row of the chosen layer', () => {
  const cos_hidden = [1, 0.1, 0.2, 0.1, 1, 0.3, 0.2, 0.3, 1]
  expect(similarityPoints(observationOf({ cos_hidden }), 1)).toEqual([
    [0, 0.1],
    [1, 1],
    [2, 0.3],
  ])
})

// What Hugging Face computed: per token in expected.safetensors, means in expected.json.
const FOLDER = 'conformance/fixtures/hf/qwen3_tiny/'

interface Golden {
  readonly dims: { readonly L: number }
  readonly forward_means: {
    readonly mixed: Readonly<Record<string, { readonly mean_resp: readonly number[] }>> & {
      readonly perplexity_resp: number
    }
  }
}

interface Stored {
  readonly shape: readonly number[]
  readonly data: Float32Array | Int32Array
}

/** Arrays of a safetensors file by name. */
function readArrays(file: string): (name: string) => Stored {
  const bytes = new Uint8Array(readFileSync(file))
  const start = 8 + new DataView(bytes.buffer).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)))
  return (name) => {
    const { dtype, shape, data_offsets } = header[name]
    const part = bytes.slice(start + data_offsets[0], start + data_offsets[1]).buffer
    return { shape, data: dtype === 'I32' ? new Int32Array(part) : new Float32Array(part) }
  }
}

test('the figures’ points are the golden means over the response tokens', () => {
  const { dims, forward_means }: Golden = JSON.parse(readFileSync(`${FOLDER}expected.json`, 'utf8'))
  const golden = forward_means.mixed
  const { L } = dims
  const arrays = readArrays(`${FOLDER}expected.safetensors`)
  const mask = arrays('in.mixed.response_mask')
  const [rows, R] = mask.shape
  /** Mean of each entry over the positions that predict response tokens. */
  const tokenMean = (name: string): number[] => {
    const { shape, data } = arrays(`fwd.mixed.${name}`)
    const [entries, , columns] = shape
    return Array.from({ length: entries }, (_, entry) => {
      let [sum, count] = [0, 0]
      for (let i = 0; i < rows * R; i++) {
        if (mask.data[i] === 0) continue
        const column = columns - R - 1 + (i % R)
        sum += data[(entry * rows + Math.floor(i / R)) * columns + column]
        count++
      }
      return sum / count
    })
  }
  const means = (name: string) => golden[name].mean_resp.flat()
  const kept = [
    'ent_attn_in',
    'ent_attn_out',
    'ent_ffn_in',
    'ent_ffn_out',
    'cos_attn',
    'cos_ffn',
    'cos_hidden',
    'kl_layer_final',
  ]
  const mean: ObservedValues = {
    ...Object.fromEntries(kept.map((name) => [name, means(name)])),
    ...Object.fromEntries(
      ['ent_layer_raw', 'ent_layer_norm', 'dH_layer', 'dH_attn', 'dH_ffn'].map((name) => [
        name,
        tokenMean(name),
      ]),
    ),
    logp_next_layer_norm: [...Array<number>(L).fill(0), -Math.log(golden.perplexity_resp)],
  }
  const observation: Observation = observationOf(mean, { num_hidden_layers: L })
  const close = (actual: readonly number[], expected: readonly number[]) => {
    expect(actual).toHaveLength(expected.length)
    for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, 5)
  }
  for (const [reading, states] of [
    ['raw', 'ent_layer_raw'],
    ['normed', 'ent_layer_norm'],
  ] as const) {
    const flow = flowPoints(observation, reading)
    const at = (place: string) =>
      flow.filter((one) => one.place === place).map(({ value }) => value)
    close(at('input'), means(states).slice(0, L))
    close(at('output'), means(states).slice(1))
    close(at('attention'), means('ent_attn_out'))
    close(at('feed-forward'), means('ent_ffn_out'))
  }
  for (const [change, name] of [
    ['attention', 'dH_attn'],
    ['feed-forward', 'dH_ffn'],
    ['layer', 'dH_layer'],
  ] as const)
    close(
      deltaBands(observation, change).map((band) => band.mean),
      means(name),
    )
  // Eqs. 8 and 11–13: the changes are those of the points that the flow joins.
  const raw = flowPoints(observation, 'raw').map(({ value }) => value)
  close(
    Array.from({ length: L }, (_, l) => raw[4 * l + 3] - raw[4 * l]),
    means('dH_layer'),
  )
  const cosines = cosinePoints(observation)
  close(
    cosines.attention.map(([, value]) => value),
    means('cos_attn'),
  )
  close(
    similarityPoints(observation, 1).map(([, value]) => value),
    means('cos_hidden').slice(L + 1, 2 * (L + 1)),
  )
  expect(perplexity(observation)).toBeCloseTo(golden.perplexity_resp, 6)
})
