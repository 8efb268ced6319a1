import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import type { ModelConfig } from '../layout/config.ts'
import { type Head, type ParamLayout, unpackWeights } from '../layout/params.ts'
import {
  CONFIGS,
  flatOf,
  TINY,
  testBatch,
  testGradients,
  testModel,
  testWeights,
} from '../testing.ts'
import type { Model } from './model.ts'
import type { RefArrays } from './operations.ref.ts'
import { uploadRows } from './rows.ts'
import { forwardRef } from './transformer.ref.ts'
import { forward } from './transformer.ts'
import { readSpan, scatterSpan, valuesBackwardRef, valuesRef } from './value.ref.ts'
import {
  backwardScores,
  backwardValues,
  createScoreTensors,
  lastStates,
  readScores,
  readValues,
} from './value.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

const gpu = await Gpu.open()

type Batch = ReturnType<typeof testBatch>

const LENGTHS = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
  { prompt: 4, response: 3 },
  { prompt: 1, response: 4 },
]
const SIZE = { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 }
const BATCH = testBatch(LENGTHS, SIZE)

function build(config: ModelConfig, head: Head, batch: Batch = BATCH) {
  const { layout, flat, exact } = testWeights(config, 4, head)
  const { shape } = layout
  const model = testModel(gpu, layout, flat)
  const grads = testGradients(gpu, layout)
  const { rows, width, R: response_length } = batch
  const ws = createWorkspace(gpu, shape, { rows, width, response_length, trains: true })
  load(ws, batch)
  return { layout, exact, model, grads, ws }
}

function load(ws: Workspace, batch: Batch) {
  uploadRows(gpu, ws, batch)
}

async function values(model: Model, ws: Workspace) {
  const { vpreds } = ws.response
  const program = await gpu.record('values', [], (r) => {
    forward(r, model, ws)
    readValues(r, model, ws, { values: vpreds })
  })
  gpu.replay(program)
  return (await gpu.read(vpreds))[0]
}

/** Every gradient under its name; the scale is the largest element's. */
function expectGradients(layout: ParamLayout, flat: Float32Array, expected: RefArrays) {
  const named = unpackWeights(layout, flat)
  const scale = Math.max(...Object.values(expected).flatMap((g) => [...g].map(Math.abs)))
  for (const { name } of layout.params) {
    expect(
      expected[name].some((g) => g !== 0),
      `${name} has no gradient`,
    ).toBe(true)
    // f32 through three blocks and back.
    expectClose(named[name], expected[name], { atol: 3e-6 * scale, rtol: 1e-4 })
  }
}

const cases = CONFIGS.map(
  (c) =>
    [
      `${c.model_type}, ${c.tie_word_embeddings ? 'tied' : 'untied'}, ${c.num_attention_heads}:${c.num_key_value_heads}`,
      c,
    ] as const,
)

describe.for(cases)('%s', ([, config]) => {
  test('values of a response and every gradient equal the float64 model', async () => {
    const { layout, exact, model, grads, ws } = build(config, 'value_head')
    const { response_mask: mask, P } = BATCH
    const cache = forwardRef(config, exact, BATCH)
    const truth = readSpan(valuesRef(exact, cache), cache, mask, P - 1)
    expectClose(await values(model, ws), truth, { atol: 2e-5, rtol: 2e-5 })
    const d_values = randomValues(mask.length, 3).map((x, i) => x * mask[i])
    gpu.write(ws.response.d_vpreds, d_values)
    gpu.replay(
      await gpu.record('backward', [], (r) =>
        backwardValues(r, model, grads, ws, { d_values: ws.response.d_vpreds }),
      ),
    )
    const [flat] = await gpu.read(flatOf(grads))
    const dRead = scatterSpan(Float64Array.from(d_values), cache, mask, P - 1)
    expectGradients(layout, flat as Float32Array, valuesBackwardRef(config, exact, cache, dRead))
  })

  test('scores of sequences and every gradient equal the float64 model', async () => {
    const { layout, exact, model, grads, ws } = build(config, 'reward_head')
    const { rows, width } = BATCH
    const t = createScoreTensors(gpu, rows)
    const last = LENGTHS.map(({ response }, b) => b * width + SIZE.P + response - 1)
    gpu.write(t.scored, lastStates(Uint32Array.from(last)))
    const d_scores = randomValues(rows, 5)
    gpu.write(t.d_scores, d_scores)
    gpu.replay(
      await gpu.record('scores', [], (r) => {
        forward(r, model, ws)
        readScores(r, model, ws, t)
        backwardScores(r, model, grads, ws, t)
      }),
    )
    const [scores, flat] = await gpu.read(t.scores, flatOf(grads))
    const cache = forwardRef(config, exact, BATCH)
    const truth = valuesRef(exact, cache)
    expectClose(
      scores,
      last.map((m) => truth[m]),
      { atol: 2e-5, rtol: 2e-5 },
    )
    const d_values = new Float64Array(rows * width)
    last.forEach((m, b) => {
      d_values[m] = d_scores[b]
    })
    expectGradients(layout, flat as Float32Array, valuesBackwardRef(config, exact, cache, d_values))
  })
})

test('more padding on the left changes no value and no gradient', async () => {
  const lengths = LENGTHS.map(({ response }, b) => ({ prompt: 1 + (b % 3), response }))
  const wide = testBatch(lengths, { ...SIZE, P: 8 })
  const tight = testBatch(lengths, { ...SIZE, P: 5 })
  // The same tokens in both: those of the tight rows, three columns further to the right.
  lengths.forEach((_, b) => {
    wide.input_ids.set(tight.input_ids.subarray(b * 9, (b + 1) * 9), b * 12 + 3)
  })
  const run = async (batch: Batch) => {
    const { model, grads, ws } = build(TINY, 'value_head', batch)
    const found = await values(model, ws)
    gpu.write(
      ws.response.d_vpreds,
      randomValues(16, 8).map((x, i) => x * batch.response_mask[i]),
    )
    gpu.replay(
      await gpu.record('backward', [], (r) =>
        backwardValues(r, model, grads, ws, { d_values: ws.response.d_vpreds }),
      ),
    )
    return { found, flat: (await gpu.read(flatOf(grads)))[0] as Float32Array }
  }
  const [a, b] = [await run(tight), await run(wide)]
  expectClose(b.found, a.found, { atol: 2e-6, rtol: 2e-6 })
  const scale = Math.max(...a.flat.map(Math.abs))
  expect(scale).toBeGreaterThan(0.1)
  expectClose(b.flat, a.flat, { atol: 1e-6 * scale, rtol: 1e-4 })
})

test('masked values are 0 and send nothing back', async () => {
  const { model, grads, ws } = build(TINY, 'value_head')
  load(ws, { ...BATCH, response_mask: new Float32Array(16) })
  expect((await values(model, ws)).every((v) => v === 0)).toBe(true)
  gpu.write(ws.response.d_vpreds, new Float32Array(16))
  gpu.replay(
    await gpu.record('backward', [], (r) =>
      backwardValues(r, model, grads, ws, { d_values: ws.response.d_vpreds }),
    ),
  )
  expect((await gpu.read(flatOf(grads)))[0].every((g) => g === 0)).toBe(true)
})

test('a model with a vocabulary head has no values, and one with a bare score no bias', async () => {
  const record = (head: Head) => {
    const { model, ws } = build(TINY, head)
    const { vpreds } = ws.response
    return gpu.record('values', [], (r) => readValues(r, model, ws, { values: vpreds }))
  }
  await expect(record('lm_head')).rejects.toThrow(/no score/)
  await expect(record('reward_head')).rejects.toThrow(/no score bias/)
})
