import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { Rollout } from '../rollout/rollout.ts'
import { createRolloutTensors } from '../rollout/rollout_tensors.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { logitsRef } from '../transformer/policy.ref.ts'
import { uploadRows } from '../transformer/rows.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { forward } from '../transformer/transformer.ts'
import { createWorkspace } from '../transformer/workspace.ts'
import { edited, type RefEdit } from './edits.ref.ts'
import { type Change, createInterventions, writeInterventions } from './intervention_tensors.ts'
import { readStatesRef } from './readings.ref.ts'

const gpu = await Gpu.open()
const lengths = [
  { prompt: 5, response: 4 },
  { prompt: 2, response: 1 },
]
const SIZE = { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 }
const batch = testBatch(lengths, SIZE)
const M = batch.rows * batch.width

function passes(config = TINY) {
  const { layout, flat, exact } = testWeights(config, 1)
  const { shape } = layout
  const room = { changes: 6, values: 6 * M * shape.hidden_size, tokens: M }
  const interventions = createInterventions(gpu, shape, room)
  const plain = testModel(gpu, layout, flat)
  const size = { rows: batch.rows, width: batch.width, response_length: batch.R, trains: true }
  const ws = createWorkspace(gpu, shape, size)
  uploadRows(gpu, ws, batch)
  return { config, exact, shape, plain, changed: { ...plain, interventions }, interventions, ws }
}

const asEdit = ({ chosen, values, ...change }: Change): RefEdit => ({
  ...change,
  values: Float64Array.from(values),
  ...(chosen && { isChosen: (m: number) => chosen[m] === 1 }),
})

/** A change of every kind of place, some at some tokens, some with a value for each token. */
function changesOf({ head_dim: D, hidden_size: C }: { head_dim: number; hidden_size: number }) {
  const random = (n: number, seed: number) => randomValues(n, seed)
  const chosen = Uint32Array.from({ length: M }, (_, m) => Number(m % 3 > 0))
  return [
    { where: 'residual', layer: 1, adds: true, values: random(C, 1), chosen },
    { where: 'head', layer: 1, head: 2, adds: false, values: random(D, 2) },
    { where: 'attention', layer: 2, adds: false, values: random(M * C, 3), chosen },
    { where: 'block', layer: 3, adds: false, values: random(C, 4), chosen },
    { where: 'feed_forward', layer: 3, adds: false, values: new Float32Array(C) },
    { where: 'residual', layer: 0, adds: true, values: random(C, 5) },
  ] as const satisfies readonly Change[]
}

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  'one recorded pass follows the float64 model through changes of every place: %s',
  async ([, config]) => {
    const { exact, shape, plain, changed, interventions, ws } = passes(config)
    const L = shape.num_hidden_layers
    const record = (model: typeof plain) => gpu.record('pass', [], (r) => forward(r, model, ws))
    const untouched = await record(plain)
    const program = await record(changed)
    gpu.replay(untouched)
    const before = await gpu.read(...ws.hidden)
    // An empty table leaves every bit.
    gpu.replay(program)
    expect(await gpu.read(...ws.hidden)).toEqual(before)
    const changes = changesOf(shape)
    const pipelines = gpu.counts.pipelines
    for (const list of [changes.slice(0, 1), changes.slice(1, 3), changes, []]) {
      writeInterventions(gpu, interventions, shape, list)
      gpu.replay(program)
      const states = await gpu.read(...ws.hidden)
      const truth = forwardRef(config, exact, batch, { edits: list.map(asEdit) })
      for (let l = 0; l <= L; l++) {
        const isReal = (i: number) => batch.attention_mask[Math.floor(i / shape.hidden_size)]
        const real = (x: ArrayLike<number>) => Array.from(x, (v, i) => (isReal(i) ? v : 0))
        expectClose(real(states[l]), real(truth.hidden_states[l]), { atol: 3e-5, rtol: 3e-5 })
      }
    }
    expect(gpu.counts.pipelines).toBe(pipelines)
    expect(await gpu.read(...ws.hidden)).toEqual(before)
  },
)

test('a model without changes records no dispatch more, and one with them three a block', async () => {
  const { plain, changed, ws, shape } = passes()
  const count = async (model: typeof plain) =>
    (await gpu.record('pass', [], (r) => forward(r, model, ws))).dispatches
  const { interventions: _none, ...without } = changed
  expect(await count(without)).toBe(await count(plain))
  expect(await count(changed)).toBe((await count(plain)) + 1 + 3 * shape.num_hidden_layers)
})

test('a table refuses more than it has room for', () => {
  const { interventions, shape } = passes()
  const change = changesOf(shape)[0]
  const many = Array.from({ length: 7 }, () => change)
  expect(() => writeInterventions(gpu, interventions, shape, many)).toThrow(
    /at most 6 changes of \d+ numbers, got 7/,
  )
})

test('decoded tokens are changed as a pass over the whole text is', async () => {
  const { layout, flat, exact } = testWeights(TINY, 1)
  const { shape } = layout
  const { P, R } = SIZE
  const rows = 2
  const room = {
    changes: 2,
    values: 2 * shape.hidden_size,
    tokens: rows * P,
    decoded: rows * (P + R),
  }
  const interventions = createInterventions(gpu, shape, room)
  const model = { ...testModel(gpu, layout, flat), interventions }
  const size = { rows, prompt_length: P, response_length: R }
  const tensors = createRolloutTensors(gpu, shape, size)
  const rollout = await Rollout.create(gpu, model, size, tensors, {
    special: {
      eos_token_ids: [],
      pad_token_id: 0,
    },
  })
  const prompts = testBatch(
    lengths.map(({ prompt }) => ({ prompt, response: 0 })),
    { ...SIZE, R: 0 },
  )
  const greedy = {
    temperature: 0,
    top_k: null,
    top_p: 1,
    seed: 1,
    stream: 0,
    step: 0,
    row_offset: 0,
  }
  const vector = randomValues(shape.hidden_size, 9).map((x) => 3 * x)
  const at = { where: 'residual', layer: 2, adds: true, values: vector } as const
  const onlyDecoded = {
    ...at,
    chosen: new Uint32Array(rows * P),
    decoded: Uint32Array.from({ length: rows * (P + R) }, (_, i) => Number(i % (P + R) === P + 1)),
  }
  const zero = { where: 'attention', layer: 1, adds: false, values: new Float32Array(20) } as const
  const found: string[] = []
  for (const list of [[], [at], [onlyDecoded], [zero, at]] as readonly Change[][]) {
    writeInterventions(gpu, interventions, shape, list)
    await rollout.generate(prompts, greedy)
    const [ids, mask] = await gpu.read(tensors.response_ids, tensors.attention_mask)
    found.push(ids.join())
    const edits = list.map(
      ({ decoded, ...change }): RefEdit => ({
        ...asEdit({ ...change, chosen: undefined }),
        ...(decoded && { isChosen: (m: number) => decoded[m] === 1 }),
      }),
    )
    expect([...ids]).toEqual(greedyRef(prompts, mask, ids, edits, exact))
  }
  // Every list changed what the pass computes.
  expect(new Set(found).size).toBe(4)
})

/** For each response token the most likely one after what came before it, by the float64 model over
 * the whole text. */
function greedyRef(
  prompts: ReturnType<typeof testBatch>,
  mask: ArrayLike<number>,
  ids: ArrayLike<number>,
  edits: readonly RefEdit[],
  params: ReturnType<typeof testWeights>['exact'],
): number[] {
  const { P, R } = SIZE
  const T = P + R
  const input_ids = Array.from({ length: 2 * T }, (_, i) => {
    const [b, c] = [Math.floor(i / T), i % T]
    return c < P ? prompts.input_ids[b * P + c] : ids[b * R + c - P]
  })
  const position_ids = input_ids.map((_, i) => {
    const first = Math.floor(i / T) * T
    const before = Array.from(mask).slice(first, i + 1)
    return Math.max(0, before.reduce((a, b) => a + b, 0) - 1)
  })
  const text = { rows: 2, width: T, input_ids, attention_mask: mask, position_ids }
  const { hidden_states } = forwardRef(TINY, params, text, { edits })
  const read = readStatesRef(TINY, params, hidden_states[TINY.num_hidden_layers], 'normed')
  const C = TINY.hidden_size
  return Array.from({ length: 2 * R }, (_, i) => {
    const m = Math.floor(i / R) * T + P - 1 + (i % R)
    const logits = logitsRef(TINY, params, read.subarray(m * C, (m + 1) * C))
    return logits.indexOf(Math.max(...logits))
  })
}

test('edits of no place leave a state itself', () => {
  const state = new Float64Array(3)
  expect(edited([], batch, TINY, 'head', 1, state)).toBe(state)
})
