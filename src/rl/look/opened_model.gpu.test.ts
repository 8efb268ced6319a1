import { afterAll, expect, test } from 'vitest'
import { decodeBfloat16, encodeBfloat16 } from '../../kernels/device/bfloat16.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { fullAt } from '../../kernels/device/testing.ts'
import { expectClose } from '../../kernels/testing.ts'
import type { OpenHfModel } from '../../model/hf/hf_model.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import type { RefEdit } from '../../model/interventions/edits.ref.ts'
import type { MatrixDtype, ModelConfig } from '../../model/layout/config.ts'
import { CONFIGS, TINY, testWeights } from '../../model/testing.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { columnsFor, MOST_WRITTEN } from './opened_generation.ts'
import { OpenedModel, planOpened, requireRoom } from './opened_model.ts'

const open: OpenedModel[] = []
afterAll(() => {
  for (const model of open) model.close()
})

const IDS = [4, 2, 9, 5, 7, 3, 10, 6]
const TOKENS = ['<pad>', '<eos>', ...'abcdefghi']
const WINDOW = { ids: IDS, first: 2, count: 5 }

/** A model whose weights come in pieces of six; `exactDtype` = what they lie in, of values that
 * bfloat16 has. */
function opened(config: ModelConfig, exactDtype?: MatrixDtype) {
  const { layout, flat: given, exact } = testWeights(config, 7)
  const flat = exactDtype ? decodeBfloat16(encodeBfloat16(given)) : given
  const hf: OpenHfModel = {
    config,
    head: 'lm_head',
    layout,
    dtype: 'F32',
    eos_token_ids: [1],
    weightBytes: 0,
    exactDtype: exactDtype ?? 'float32',
    load: async (sink) => {
      for (const { name, offset, size } of layout.params)
        for (let at = 0; at < size; at += 6)
          await sink.write(name, at, flat.slice(offset + at, offset + Math.min(size, at + 6)))
    },
  }
  return { hf, exact }
}

function truthOf(
  config: ModelConfig,
  exact: ReturnType<typeof opened>['exact'],
  ids = IDS,
  edits: readonly RefEdit[] = [],
) {
  const ones = ids.map(() => 1)
  const position_ids = ids.map((_, column) => column)
  const batch = { input_ids: ids, attention_mask: ones, position_ids, rows: 1, width: ids.length }
  return internalsRef(config, exact, forwardRef(config, exact, batch, { edits })).values
}

const configs = CONFIGS.map((config, i) => [`${config.model_type} ${i}`, config] as const)

test.for(process.env.LONG_TESTS ? configs : configs.slice(0, 1))(
  'a window of a text says what every layer of the float64 %s says',
  async ([, config]) => {
    const { hf, exact } = opened(config)
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
    open.push(model)
    const lens = await model.look(WINDOW, TOKENS)
    expect(lens.tokens).toEqual(IDS.slice(2, 7).map((id) => TOKENS[id]))
    const values = truthOf(config, exact)
    const layers = config.num_hidden_layers + 1
    for (const [kind, name] of [
      ['raw', 'ent_layer_raw'],
      ['normed', 'ent_layer_norm'],
    ] as const) {
      const expected = Array.from({ length: 5 }, (_, i) =>
        Array.from({ length: layers }, (_, layer) => values[name][layer * IDS.length + 2 + i]),
      ).flat()
      expectClose(lens[kind].entropy, expected, { atol: 3e-5, rtol: 2e-5 })
    }
    const changes = await model.changes(WINDOW)
    for (const name of ['dH_attn', 'dH_ffn'] as const) {
      const expected = Array.from({ length: layers - 1 }, (_, l) => {
        const at = l * IDS.length + WINDOW.first
        return values[name].slice(at, at + 5).reduce((sum, x) => sum + x, 0) / 5
      })
      expectClose(changes[name], expected, { atol: 6e-5, rtol: 2e-5 })
    }
    // The same again gives the same bits.
    expect((await model.look(WINDOW, TOKENS)).normed).toEqual(lens.normed)
    const at = { first: 0, count: 1 }
    await expect(model.look({ ids: [], ...at }, TOKENS)).rejects.toThrow(
      'Expected a text of 1 to 1024 tokens, found 0.',
    )
    const beyond = config.vocab_size
    await expect(model.look({ ids: [beyond], ...at }, TOKENS)).rejects.toThrow(
      `Expected token ids below ${beyond}, found ${beyond}.`,
    )
  },
)

test('what it writes is its likeliest token each time, until it ends or is stopped', async () => {
  const { hf, exact } = opened(TINY)
  const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
  open.push(model)
  const greedy = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 12, seed: 1 }
  const seen: number[] = []
  const prompt = [4, 2, 9]
  const onTokens = (tokens: readonly { readonly id: number }[]) =>
    seen.push(...tokens.map(({ id }) => id))
  const written = await model.generation.write(prompt, greedy, { onTokens })
  expect(written.map(({ id }) => id)).toEqual(seen)
  const ids = [...prompt]
  for (const { id, entropy } of written) {
    const { logits, ent_layer_norm } = truthOf(TINY, exact, ids)
    const V = TINY.vocab_size
    const last = Array.from(logits.slice(-V))
    expect(id).toBe(last.indexOf(Math.max(...last)))
    expect(entropy).toBeCloseTo(ent_layer_norm.at(-1) ?? Number.NaN, 4)
    ids.push(id)
  }
  expect(written.length === 12 || written.at(-1)?.id === 1).toBe(true)
  const sampled = { ...greedy, temperature: 1, max_tokens: 9 }
  const first = await model.generation.write(prompt, sampled, { onTokens })
  expect(await model.generation.write(prompt, sampled, { onTokens })).toEqual(first)
  const stop = new AbortController()
  stop.abort()
  const { signal } = stop
  expect(await model.generation.write(prompt, sampled, { onTokens, signal })).toEqual([])
  await expect(model.generation.write([], greedy, { onTokens })).rejects.toThrow('Type a text')
})

test('vectors of a run are in all that it reads and writes', async () => {
  const { hf, exact } = opened(TINY)
  const { num_hidden_layers: L, hidden_size: C } = TINY
  const vectors = Array.from({ length: L + 1 }, (_, layer) =>
    Float32Array.from({ length: C }, (__, c) => (layer === 1 ? 0 : Math.sin(7 * layer + 3 * c))),
  )
  const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }), { vectors })
  open.push(model)
  const edits: RefEdit[] = vectors.map((vector, layer) => ({
    where: 'residual',
    layer,
    adds: true,
    values: Float64Array.from(vector),
  }))
  const at = (values: Float64Array) =>
    Array.from({ length: 5 }, (_, i) =>
      Array.from({ length: L + 1 }, (__, layer) => values[layer * IDS.length + 2 + i]),
    ).flat()
  const { ent_layer_norm } = truthOf(TINY, exact, IDS, edits)
  const lens = await model.look(WINDOW, TOKENS)
  expectClose(lens.normed.entropy, at(ent_layer_norm), { atol: 3e-5, rtol: 2e-5 })
  const greedy = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 6, seed: 1 }
  const ids = [4, 2, 9]
  for (const { id } of await model.generation.write(ids, greedy, { onTokens: () => {} })) {
    const last = Array.from(truthOf(TINY, exact, ids, edits).logits.slice(-TINY.vocab_size))
    expect(id).toBe(last.indexOf(Math.max(...last)))
    ids.push(id)
  }
  expect(ids.length).toBeGreaterThan(3)
  const short = { vectors: vectors.slice(1) }
  await expect(OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }), short)).rejects.toThrow(
    `Expected ${L + 1} vectors of ${C} numbers`,
  )
})

test('columns beyond the text’s own change rounding at most', async () => {
  const { hf } = opened(TINY)
  const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
  open.push(model)
  const greedy = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 8, seed: 1 }
  const prompt = [4, 2, 9]
  const written = await model.generation.write(prompt, greedy, { onTokens: () => {} })
  expect(columnsFor(prompt.length, 8)).not.toEqual(columnsFor(prompt.length, MOST_WRITTEN))
  const enough = new AbortController()
  const wide = await model.generation.write(
    prompt,
    { ...greedy, max_tokens: MOST_WRITTEN },
    { onTokens: () => enough.abort(), signal: enough.signal },
  )
  expect(wide.length).toBeGreaterThan(0)
  for (const [t, { id, log_prob }] of wide.entries()) {
    expect(id).toBe(written[t].id)
    expect(log_prob).toBeCloseTo(written[t].log_prob, 4)
  }
})

test('a direction changes what is written by its strength alone, and while it is being written', async () => {
  // Nothing ends a text early.
  const hf = { ...opened(TINY).hf, eos_token_ids: [] }
  let device: Gpu | undefined
  const model = await OpenedModel.open(hf, async ({ largest }) => {
    device = await Gpu.open({ largest })
    return device
  })
  open.push(model)
  const settings = { temperature: 1, top_p: 1, top_k: 0, max_tokens: 24, seed: 5 }
  const write = async (onTokens: () => void = () => {}) =>
    (await model.generation.write([4, 2, 9], settings, { onTokens })).map(({ id }) => id)
  const plain = await write()
  const sizes = await model.direct([[3, 5], [7]])
  expect(sizes).toHaveLength(TINY.num_hidden_layers + 1)
  // A direction without a strength is none; then every strength has its programs.
  expect(await write()).toEqual(plain)
  const { pipelines } = device?.counts ?? {}
  const layer = TINY.num_hidden_layers
  model.steer({ layer, strength: 40 })
  const steered = await write()
  expect(steered).not.toEqual(plain)
  model.steer({ layer, strength: 0 })
  let looks = 0
  const moved = await write(() => {
    if (looks++ === 0) model.steer({ layer, strength: 40 })
  })
  expect(moved.slice(0, 8)).toEqual(plain.slice(0, 8))
  expect(moved.slice(8)).not.toEqual(plain.slice(8))
  expect(device?.counts.pipelines).toBe(pipelines)
  expect(() => model.steer({ layer: layer + 1, strength: 1 })).toThrow(`expected 0 to ${layer}`)
  await expect(model.direct([[3], [3]])).rejects.toThrow('two different texts')
  await expect(model.direct([[], [3]])).rejects.toThrow('1 to 64 tokens')
  await model.direct(undefined)
  expect(await write()).toEqual(plain)
  expect(() => model.steer({ layer, strength: 1 })).toThrow('There is no direction')
})

test('a text is read without each part, as in float64, and its room is freed', async () => {
  const { hf, exact } = opened(TINY)
  let device: Gpu | undefined
  const model = await OpenedModel.open(hf, async ({ largest }) => {
    device = await Gpu.open({ largest })
    return device
  })
  open.push(model)
  const held = model.bytes
  const { tokens, untouched, parts } = await model.parts(IDS)
  // What a recorded program has of its own stays: less than the room of a text.
  expect(model.bytes - held).toBeLessThan(4096)
  expect(tokens).toBe(IDS.length - 1)
  const { num_hidden_layers: L, num_attention_heads: H } = TINY
  expect(parts).toHaveLength(L * (3 + H))
  const mean = (x: ArrayLike<number>) => Array.from(x).reduce((a, b) => a + b, 0) / x.length
  const S = IDS.length
  const read = (edits: readonly RefEdit[]) => {
    const { logp_next_layer_norm, ent_layer_raw, ent_layer_norm } = truthOf(TINY, exact, IDS, edits)
    const at = (x: ArrayLike<number>, l: number) => Array.from(x).slice(l * S, (l + 1) * S)
    return {
      log_prob: mean(at(logp_next_layer_norm, L).slice(0, -1)),
      entropies: Array.from({ length: L + 1 }, (_, l) =>
        mean(at(l === L ? ent_layer_norm : ent_layer_raw, l)),
      ),
    }
  }
  const whole = read([])
  expect(untouched.log_prob).toBeCloseTo(whole.log_prob, 4)
  for (const { where, layer, head, log_prob, entropies } of parts) {
    const values = new Float64Array(where === 'head' ? TINY.head_dim : TINY.hidden_size)
    const without = read([{ where, layer, head, values }])
    expect(log_prob.mean, `${where} ${layer}`).toBeCloseTo(without.log_prob - whole.log_prob, 4)
    entropies.forEach(({ mean: change }, l) => {
      expect(change).toBeCloseTo(without.entropies[l] - whole.entropies[l], 4)
    })
  }
  await expect(model.parts([4])).rejects.toThrow('at least 2 tokens')
  const stop = new AbortController()
  stop.abort(new Error('It was ended.'))
  await expect(model.parts(IDS, stop.signal)).rejects.toThrow('It was ended.')
  expect(model.bytes - held).toBeLessThan(2 * 4096)
})

test('matrices that the files have in bfloat16 lie so on the GPU, and say the same', async () => {
  const said = []
  const bytes = []
  for (const dtype of ['float32', 'bfloat16'] as const) {
    const { hf } = opened(TINY, dtype)
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
    open.push(model)
    const { normed, raw } = await model.look(WINDOW, TOKENS)
    const settings = { temperature: 1, top_p: 1, top_k: 0, max_tokens: 6, seed: 3 }
    const written = await model.generation.write(IDS, settings, { onTokens: () => {} })
    const { dH_attn, dH_ffn } = await model.changes(WINDOW)
    const entropies = [...normed.entropy, ...raw.entropy, ...dH_attn, ...dH_ffn]
    said.push({ entropies, written: written.map(({ id }) => id) })
    bytes.push(planOpened(hf).bytes)
  }
  // The products of both dtypes have tilings of their own, so sums have another order.
  expectClose(said[1].entropies, said[0].entropies, { atol: 2e-6, rtol: 1e-6 })
  expect(said[1].written).toEqual(said[0].written)
  expect(bytes[1]).toBeLessThan(bytes[0])
})

test('weights that are not finite are refused by name', async () => {
  const { hf } = opened(TINY)
  const broken: OpenHfModel = {
    ...hf,
    load: (sink) => Promise.resolve(sink.write('model.norm.weight', 3, Float32Array.of(1, 1 / 0))),
  }
  await expect(OpenedModel.open(broken, ({ largest }) => Gpu.open({ largest }))).rejects.toThrow(
    'tensor model.norm.weight, element 4: expected a finite number, found Infinity',
  )
})

test('what is planned is what it holds, and it gives all of it back', async () => {
  const { hf } = opened(TINY)
  let [device, held] = [undefined as Gpu | undefined, 0]
  const model = await OpenedModel.open(hf, async ({ largest }) => {
    device = await Gpu.open({ largest })
    held = device.counts.live_bytes
    return device
  })
  expect(model.bytes - held).toBe(planOpened(hf).bytes)
  model.close()
  expect(device?.counts.live_bytes).toBe(0)
})

test('no room for any of its buffers is said before a weight is read, and frees the others', async () => {
  const { hf } = opened(TINY)
  let loads = 0
  const counted: OpenHfModel = {
    ...hf,
    load: (sink, options) => {
      loads++
      return hf.load(sink, options)
    },
  }
  for (let nth = 0; ; nth++) {
    const { gpu, seen, restore } = fullAt(nth)
    let device: Gpu | undefined
    const opening = OpenedModel.open(counted, async ({ largest }) => {
      device = await Gpu.open({ gpu, largest })
      return device
    })
    const outcome = await opening.catch((error: unknown) => error)
    restore()
    if (outcome instanceof OpenedModel) {
      open.push(outcome)
      expect(nth).toBe(seen.large)
      expect(nth).toBeGreaterThan(10)
      break
    }
    expect(outcome).toMatchObject({ code: 'out_of_memory' })
    expect([loads, device?.counts.live_bytes]).toEqual([0, 0])
  }
  expect(loads).toBe(1)
})

test('a model that takes more memory than there may be is refused with both numbers', () => {
  expect(() => requireRoom(2 ** 30, 2 ** 30)).not.toThrow()
  expect(() => requireRoom(3 * 2 ** 30, 2 ** 31)).toThrow(
    'The model takes 3.00 GiB of GPU memory here, where it may take 2.00 GiB.',
  )
})
