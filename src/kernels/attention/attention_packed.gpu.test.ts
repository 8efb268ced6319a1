// Rows without padding, one after another in one stream of tokens.
import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  type AttentionSizes,
  attention_forward_ref,
  attentionBackwardRef,
} from './attention.ref.ts'
import { type AttentionKernels, attentionKernels } from './attention.ts'

const gpu = await Gpu.open()

type Heads = Omit<AttentionSizes, 'rows' | 'width'>

const headsOf = ([H, K, D]: readonly number[]): Heads => ({
  num_attention_heads: H,
  num_key_value_heads: K,
  head_dim: D,
  scale: 4 / Math.sqrt(D),
})

const sizesPerToken = ({ num_attention_heads: H, num_key_value_heads: K, head_dim: D }: Heads) => ({
  qkv: (H + 2 * K) * D,
  out: H * D,
  lse: H,
})

interface Row {
  readonly qkv: Float32Array
  readonly d_out: Float32Array
  readonly mask: number[]
}

// One token, less than a tile, a tile, one past it, none, several tiles, and a row that is masked
// throughout.
const LENGTHS = [1, 7, 16, 17, 0, 40, 3]

/** Rows of LENGTHS with holes, the last without a token. */
function rowsOf(heads: Heads): Row[] {
  const size = sizesPerToken(heads)
  return LENGTHS.map((length, b) => ({
    qkv: randomValues(length * size.qkv, 10 * b + heads.head_dim).map((x) => x * 2),
    d_out: randomValues(length * size.out, 10 * b + 5),
    mask: Array.from({ length }, (_, c) => Number(b < LENGTHS.length - 1 && c % 5 !== 2)),
  }))
}

/** Where the rows' tokens lie in the stream, and which tokens are the kernels'. */
interface Layout {
  readonly cu_seqlens: readonly number[]
  /** Of each row's first token. */
  readonly starts: readonly number[]
  readonly tokens: number
  readonly width: number
}

/** No padding; tokens of no row before and after. */
function packed(rows: readonly Row[], { before = 0, after = 0, width = 40 } = {}): Layout {
  const cu_seqlens = [before]
  for (const { mask } of rows) cu_seqlens.push(cu_seqlens[cu_seqlens.length - 1] + mask.length)
  const tokens = cu_seqlens[rows.length] + after
  return { cu_seqlens, starts: cu_seqlens.slice(0, -1), tokens, width }
}

/** Padding on one side of every row. */
function padded(rows: readonly Row[], side: 'left' | 'right', width = 45): Layout {
  const cu_seqlens = Array.from({ length: rows.length + 1 }, (_, b) => b * width)
  const starts = rows.map(({ mask }, b) => b * width + (side === 'left' ? width - mask.length : 0))
  return { cu_seqlens, starts, tokens: rows.length * width, width }
}

const FILLED = 0.125

/** All three kernels over the rows; what is no row's token holds `garbage`, and counts as a token
 * where it is in no row. */
async function attend(
  { forward, backwardQuery, backwardKeyValue }: AttentionKernels,
  heads: Heads,
  rows: readonly Row[],
  { cu_seqlens, starts, tokens, width }: Layout,
  garbage: number,
) {
  const size = sizesPerToken(heads)
  const qkvValues = new Float32Array(tokens * size.qkv).fill(garbage)
  const dOutValues = new Float32Array(tokens * size.out).fill(garbage)
  const mask = Uint32Array.from({ length: tokens }, (_, token) =>
    Number(token < cu_seqlens[0] || token >= cu_seqlens[rows.length]),
  )
  rows.forEach((row, b) => {
    qkvValues.set(row.qkv, starts[b] * size.qkv)
    dOutValues.set(row.d_out, starts[b] * size.out)
    mask.set(row.mask, starts[b])
  })
  const filled = (name: string, perToken: number) =>
    gpu.tensor(name, 'f32', [tokens, perToken], {
      data: new Float32Array(tokens * perToken).fill(FILLED),
    })
  const tensors = {
    qkv: gpu.tensor('qkv', 'f32', [tokens, size.qkv], { data: qkvValues }),
    attention_mask: gpu.tensor('attention_mask', 'u32', [tokens], { data: mask }),
    cu_seqlens: gpu.tensor('cu_seqlens', 'u32', [rows.length + 1], {
      data: Uint32Array.from(cu_seqlens),
    }),
    out: filled('out', size.out),
    lse: filled('lse', size.lse),
  }
  const params = { ...heads, rows: rows.length, width }
  await gpu.run(forward, params, tensors)
  const d_out = gpu.tensor('d_out', 'f32', [tokens, size.out], { data: dOutValues })
  const all = { ...tensors, d_out, d_qkv: filled('d_qkv', size.qkv) }
  await gpu.run(backwardQuery, params, all)
  await gpu.run(backwardKeyValue, params, all)
  const read = await gpu.read(tensors.out, tensors.lse, all.d_qkv)
  const [out, lse, d_qkv] = read as Float32Array[]
  const part = (first: number, count: number) => ({
    out: out.slice(first * size.out, (first + count) * size.out),
    lse: lse.slice(first * size.lse, (first + count) * size.lse),
    d_qkv: d_qkv.slice(first * size.qkv, (first + count) * size.qkv),
  })
  return { part, of_rows: rows.map(({ mask }, b) => part(starts[b], mask.length)) }
}

// [heads, key/value heads, head_dim]
const tiledCases = [
  [1, 1, 1],
  [2, 1, 5],
  [4, 2, 16],
  [3, 1, 20],
  [2, 2, 64],
  [2, 1, 130],
]
const narrowCases = [
  [1, 1, 4],
  [4, 2, 16],
  [3, 1, 20],
  [2, 1, 8],
  [4, 2, 64],
]

const tiled = ({ head_dim }: Heads) => attentionKernels({ width: 1e6, head_dim })
const narrow = ({ head_dim }: Heads) => attentionKernels({ width: 1, head_dim })

describe.for([
  ['tiled', tiledCases, tiled],
  ['narrow', narrowCases, narrow],
] as const)('%s attention of packed rows', ([, cases, kernelsOf]) => {
  test.for(cases)(
    'gives each row what the reference says of it alone, at [%i, %i, %i]',
    async (size) => {
      const heads = headsOf(size)
      const rows = rowsOf(heads)
      const layout = packed(rows, { before: 3, after: 5, width: 50 })
      // What lies in no row reaches nothing, not even as a product with 0.
      const { of_rows } = await attend(kernelsOf(heads), heads, rows, layout, Number.NaN)
      rows.forEach(({ qkv, d_out, mask }, b) => {
        const alone = { ...heads, rows: 1, width: mask.length }
        const { out, lse } = attention_forward_ref(qkv, mask, alone)
        // Tolerances as for padded rows of such lengths.
        expectClose(of_rows[b].out, out, { atol: 3e-5, rtol: 3e-5 })
        expectClose(of_rows[b].lse, lse, { atol: 3e-5, rtol: 3e-5 })
        const d_qkv = attentionBackwardRef(qkv, mask, d_out, alone)
        expectClose(of_rows[b].d_qkv, d_qkv, { atol: 3e-4, rtol: 3e-4 })
      })
    },
  )

  test('leaves tokens of no row untouched', async () => {
    const heads = headsOf([4, 2, 16])
    const rows = rowsOf(heads)
    const layout = packed(rows, { before: 3, after: 5, width: 50 })
    const { part } = await attend(kernelsOf(heads), heads, rows, layout, 1)
    for (const [first, count] of [
      [0, 3],
      [layout.tokens - 5, 5],
    ])
      for (const values of Object.values(part(first, count)))
        expect([...values]).toEqual(new Array(values.length).fill(FILLED))
  })

  test('repeats its bits beside other rows, at another place and in a wider grid', async () => {
    const heads = headsOf([4, 2, 16])
    const rows = rowsOf(heads)
    const kernels = kernelsOf(heads)
    const { of_rows } = await attend(kernels, heads, rows, packed(rows), 1)
    const turned = rows.toReversed()
    const layout = packed(turned, { before: 2, width: 100 })
    const other = await attend(kernels, heads, turned, layout, 2)
    expect(other.of_rows.toReversed()).toEqual(of_rows)
    for (const b of [0, 5]) {
      const single = await attend(kernels, heads, [rows[b]], packed([rows[b]]), 1)
      expect(single.of_rows[0]).toEqual(of_rows[b])
    }
  })

  test.for(cases)('has the bits of rows padded on the right, at [%i, %i, %i]', async (size) => {
    const heads = headsOf(size)
    const rows = rowsOf(heads)
    const kernels = kernelsOf(heads)
    const { of_rows } = await attend(kernels, heads, rows, packed(rows), 1)
    const right = await attend(kernels, heads, rows, padded(rows, 'right'), 1)
    expect(right.of_rows).toEqual(of_rows)
  })

  test.for(cases)('agrees with rows padded on the left, at [%i, %i, %i]', async (size) => {
    const heads = headsOf(size)
    const rows = rowsOf(heads)
    const kernels = kernelsOf(heads)
    const { of_rows } = await attend(kernels, heads, rows, packed(rows), 1)
    const left = await attend(kernels, heads, rows, padded(rows, 'left'), 1)
    const isNarrow = ({ name }: { name: string }) => name.includes('narrow')
    rows.forEach((_, b) => {
      const [a, e] = [left.of_rows[b], of_rows[b]]
      // Narrow kernels skip padding; tiles cut the keys elsewhere, so the running sums round
      // otherwise.
      if (isNarrow(kernels.forward)) expect([a.out, a.lse]).toEqual([e.out, e.lse])
      expectClose(a.out, e.out, { atol: 3e-5, rtol: 3e-5 })
      expectClose(a.lse, e.lse, { atol: 3e-5, rtol: 3e-5 })
      if (isNarrow(kernels.backwardKeyValue)) expect(a.d_qkv).toEqual(e.d_qkv)
      expectClose(a.d_qkv, e.d_qkv, { atol: 3e-4, rtol: 3e-4 })
    })
  })

  test('computes the same in a folded grid with an overhang', async () => {
    const heads = headsOf([4, 2, 16])
    const rows = rowsOf(heads)
    const layout = packed(rows)
    const kernels = kernelsOf(heads)
    type Grid = (p: AttentionSizes) => readonly [number, number?, number?]
    const folded = <K extends { workgroups: Grid }>(kernel: K) => {
      const [groups] = kernel.workgroups({ ...heads, rows: rows.length, width: layout.width })
      return { ...kernel, workgroups: () => [Math.floor(groups / 2) + 1, 2] as const }
    }
    const allFolded = {
      ...kernels,
      forward: folded(kernels.forward),
      backwardQuery: folded(kernels.backwardQuery),
      backwardKeyValue: folded(kernels.backwardKeyValue),
    }
    const { of_rows } = await attend(kernels, heads, rows, layout, 1)
    const other = await attend(allFolded, heads, rows, layout, 1)
    expect(other.of_rows).toEqual(of_rows)
  })
})
