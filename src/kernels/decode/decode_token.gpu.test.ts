import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { type BlockRef, decodeTokenRef, type TokenShape } from './decode_token.ref.ts'
import { decode_token, rowVectors } from './decode_token.ts'

const gpu = await Gpu.open()
const VOCAB = 7
const EPS = 1e-5
/** Three tokens of a prompt, and up to two of a response; two rows to a prompt. */
const [P, R, N_PER_PROMPT] = [3, 2, 2]

interface Case extends Omit<TokenShape, 'eps'> {
  readonly rows: number
  readonly layers: number
  readonly isBiased: boolean
  readonly isNormed: boolean
}

const size = (
  [rows, layers, hidden_size, intermediate_size]: readonly number[],
  [num_attention_heads, num_key_value_heads, head_dim]: readonly number[],
  kind: 'plain' | 'biased' | 'normed' = 'plain',
): Case => ({
  rows,
  layers,
  hidden_size,
  intermediate_size,
  num_attention_heads,
  num_key_value_heads,
  head_dim,
  isBiased: kind === 'biased',
  isNormed: kind === 'normed',
})

/** One row of vectors, a model of sizes that are no workgroup's, and the largest that fits. */
const CASES = [
  size([2, 1, 4, 4], [1, 1, 8]),
  size([6, 2, 20, 44], [2, 1, 8], 'biased'),
  size([10, 3, 12, 36], [4, 2, 16], 'normed'),
  size([4, 1, 192, 512], [6, 6, 32]),
]

const random = (count: number, seed: number, by = 1) =>
  randomValues(count, seed).map((value) => by * value)

function block(c: Case, seed: number): BlockRef {
  const { hidden_size: C, intermediate_size: F, head_dim: D } = c
  const [H, K] = [c.num_attention_heads, c.num_key_value_heads]
  const qkv = (H + 2 * K) * D
  const weight = (rows: number, columns: number, i: number) =>
    random(rows * columns, seed + i, 1 / Math.sqrt(columns))
  return {
    input_layernorm: random(C, seed, 2),
    qkv_proj: weight(qkv, C, 1),
    qkv_bias: c.isBiased ? random(qkv, seed + 2) : undefined,
    qk_norm: c.isNormed ? random(2 * D, seed + 3, 2) : undefined,
    o_proj: weight(C, H * D, 4),
    post_attention_layernorm: random(C, seed + 5, 2),
    gate_up_proj: weight(2 * F, C, 6),
    down_proj: weight(C, F, 7),
  }
}

/** Blocks one behind the other, each part at a multiple of 64 as in a model's buffer. */
function laidOut(embedding: Float32Array, blocks: readonly BlockRef[]) {
  const values: number[] = []
  const place = (part: ArrayLike<number> | undefined) => {
    while (values.length % 64) values.push(0)
    const at = values.length / 4
    for (const value of Array.from(part ?? [])) values.push(value)
    return at
  }
  place(embedding)
  const places = blocks.map((w) => ({
    input_layernorm: place(w.input_layernorm),
    qkv_proj: place(w.qkv_proj),
    qkv_bias: place(w.qkv_bias),
    qk_norm: place(w.qk_norm),
    o_proj: place(w.o_proj),
    post_attention_layernorm: place(w.post_attention_layernorm),
    gate_up_proj: place(w.gate_up_proj),
    down_proj: place(w.down_proj),
  }))
  while (values.length % 4) values.push(0)
  const [first, second = first] = places
  const start = first.input_layernorm
  const offsets = Object.entries(first).map(([name, at]) => [name, at - start])
  return {
    weights: Float32Array.from(values),
    params: {
      ...(Object.fromEntries(offsets) as typeof first),
      embedding: 0,
      first_block: start,
      block_stride: second.input_layernorm - start,
    },
  }
}

test.for(CASES.map((c) => [`${c.rows} rows, ${c.layers} × ${c.hidden_size}`, c] as const))(
  'a token through all blocks after the prompt, and the next one after it: %s',
  async ([, c]) => {
    const { rows, layers, hidden_size: C, head_dim: D, num_key_value_heads: K } = c
    const vectors = rowVectors(c)
    if (vectors === undefined) throw new Error('expected a model that a workgroup holds')
    const embedding = random(VOCAB * C, 5)
    const blocks = Array.from({ length: layers }, (_, l) => block(c, 10 * (l + 1)))
    const { weights, params } = laidOut(embedding, blocks)
    const inv_freq = Float32Array.from({ length: D / 2 }, (_, i) => 0.7 ** i)
    const tokens = (rows / N_PER_PROMPT) * P + rows * R
    const cached = random(layers * tokens * 2 * K * D, 77)
    const token = (l: number, i: number) =>
      Float64Array.from(cached.subarray((l * tokens + i) * 2 * K * D).subarray(0, 2 * K * D))
    // The first prompt's first token is padding.
    const isPadded = (row: number, column: number) => row < N_PER_PROMPT && column === 0
    const past = Array.from({ length: rows }, (_, row) =>
      blocks.map((_, l) =>
        [0, 1, 2]
          .filter((column) => !isPadded(row, column))
          .map((column) => token(l, Math.floor(row / N_PER_PROMPT) * P + column)),
      ),
    )
    const u32 = (label: string, data: readonly number[]) =>
      gpu.tensor(label, 'u32', [data.length], { data: Uint32Array.from(data) })
    const f32 = (label: string, data: Float32Array) =>
      gpu.tensor(label, 'f32', [data.length], { data })
    const each = (of: (row: number) => number) => Array.from({ length: rows }, (_, row) => of(row))
    const width = P + R
    const mask = each((row) => row).flatMap((row) =>
      Array.from({ length: width }, (_, column) => (isPadded(row, column) ? 0 : 1)),
    )
    const cache = f32('cache', cached)
    const out = gpu.tensor('out', 'f32', [rows, C])
    const shared = {
      weights: f32('weights', weights),
      cache,
      ended: u32(
        'ended',
        each(() => 0),
      ),
      inv_freq: f32('inv_freq', inv_freq),
      attention_mask: u32('mask', mask),
      out,
    }
    for (const t of [0, 1]) {
      const ids = each((row) => (3 * row + t) % VOCAB)
      const positions = each((row) => P + t - (isPadded(row, 0) ? 1 : 0))
      await gpu.run(
        decode_token,
        {
          ...params,
          ...c,
          n: N_PER_PROMPT,
          prompt_length: P,
          response_columns: R,
          width,
          column: P + t,
          scale: 1 / Math.sqrt(D),
          has_qk_norm: c.isNormed ? 1 : 0,
          has_bias: c.isBiased ? 1 : 0,
          eps: EPS,
          row_vectors: vectors,
          cache_stride: (tokens * 2 * K * D) / 4,
        },
        { ...shared, next_ids: u32('ids', ids), position_ids: u32('positions', positions) },
      )
      const [states] = await gpu.read(out)
      each((row) => row).forEach((row) => {
        const x = embedding.subarray(ids[row] * C, (ids[row] + 1) * C)
        const at = { position: positions[row], inv_freq, past: past[row] }
        const truth = decodeTokenRef(x, blocks, { ...c, eps: EPS }, at)
        expectClose(states.subarray(row * C, (row + 1) * C), truth, { atol: 2e-4, rtol: 2e-4 })
      })
    }
    // The tokens' own keys and values are in the cache, and nothing else has changed.
    const [after] = await gpu.read(cache)
    const first = (rows / N_PER_PROMPT) * P
    blocks.forEach((_, l) => {
      for (let i = 0; i < tokens; i++) {
        const row = Math.floor((i - first) / R)
        const kept = i < first ? token(l, i) : past[row][l].at(((i - first) % R) - R)
        const own = after.subarray((l * tokens + i) * 2 * K * D).subarray(0, 2 * K * D)
        expectClose(own, kept ?? [], { atol: 2e-4, rtol: 2e-4 })
      }
    })
  },
)

test('four rows that have ended are left out, and rows beside them are not', async () => {
  const c = size([10, 1, 8, 8], [1, 1, 8])
  const blocks = [block(c, 3)]
  const { weights, params } = laidOut(random(VOCAB * 8, 5), blocks)
  const run = async (ended: readonly number[], rest: number) => {
    const data = (values: readonly number[]) => ({ data: Uint32Array.from(values) })
    const ids = Array.from({ length: 10 }, (_, row) => (row === 5 ? 3 : (row * rest) % VOCAB))
    const out = gpu.tensor('out', 'f32', [10, 8], { data: new Float32Array(80).fill(9) })
    await gpu.run(
      decode_token,
      {
        ...params,
        ...c,
        n: 1,
        prompt_length: 0,
        response_columns: 1,
        width: 1,
        column: 0,
        scale: 1,
        has_qk_norm: 0,
        has_bias: 0,
        eps: EPS,
        row_vectors: rowVectors(c) ?? 0,
        cache_stride: 40,
      },
      {
        weights: gpu.tensor('weights', 'f32', [weights.length], { data: weights }),
        cache: gpu.tensor('cache', 'f32', [10, 16]),
        next_ids: gpu.tensor('ids', 'u32', [10], data(ids)),
        ended: gpu.tensor('ended', 'u32', [10], data(ended)),
        position_ids: gpu.tensor('positions', 'u32', [10]),
        inv_freq: gpu.tensor('inv_freq', 'f32', [4], { data: new Float32Array(4).fill(1) }),
        attention_mask: gpu.tensor('mask', 'u32', [10], data(ended.map((e) => 1 - e))),
        out,
      },
    )
    return (await gpu.read(out))[0]
  }
  const some = await run([1, 1, 1, 1, 1, 0, 1, 1, 1, 1], 1)
  expect(some.subarray(0, 32)).toEqual(new Float32Array(32).fill(9))
  expect(some.subarray(64)).toEqual(new Float32Array(16).fill(9))
  const all = await run(new Array(10).fill(0), 2)
  // A row's numbers do not depend on its neighbours.
  expect(all.subarray(40, 48)).toEqual(some.subarray(40, 48))
  expect(all.every((value) => value !== 9)).toBe(true)
})
