// A dispatch in parts must leave the bits that it leaves in one piece, whatever its kernel asks
// about its place.
import { expect, test } from 'vitest'
import {
  attention_backward_key_value,
  attention_backward_query,
  attention_forward,
  attentionKernels,
} from '../../attention/attention.ts'
import { matmul_nn, matmul_nt, matmul_nt_add, matmul_tn } from '../../matmul/matmul.ts'
import { matmulVariant } from '../../matmul/matmul_variants.ts'
import { masked_sum } from '../../metrics/metrics.ts'
import { adamw_update, grad_norm_partial, OPTIMIZER_BLOCKS } from '../../optimizer/optimizer.ts'
import { reduce_rows, reduce_rows_short } from '../../reduce/reduce.ts'
import { rms_norm_backward } from '../../rms_norm/rms_norm.ts'
import { sample_token, sample_token_narrow } from '../../sampling/sampling.ts'
import { randomValues } from '../../testing.ts'
import { listScored } from '../../vocab_head/scored.ts'
import {
  vocab_head_backward_hidden,
  vocab_head_backward_weight,
  vocab_head_forward,
  vocabHeadKernels,
} from '../../vocab_head/vocab_head.ts'
import { type AnyKernel, accessOf } from '../base/kernel.ts'
import type { Grid } from '../base/program.ts'
import { Gpu } from '../gpu.ts'
import { parts, splitKernel } from './split.ts'
import { places } from './testing.ts'

const gpu = await Gpu.open()

interface Case {
  readonly name: string
  readonly kernel: AnyKernel
  readonly params: Readonly<Record<string, number>>
  /** One array per binding. */
  readonly data: Readonly<Record<string, Float32Array | Uint32Array>>
}

const case_ = (
  kernel: unknown,
  params: Record<string, number>,
  data: Record<string, Float32Array | Uint32Array>,
): Case => ({ name: (kernel as AnyKernel).name, kernel: kernel as AnyKernel, params, data })

const floats = (count: number, seed = count) => randomValues(count, seed)
const ones = (count: number) => new Uint32Array(count).fill(1)

function matmulCases(): Case[] {
  // Neither a multiple of a tile nor of its parts, but of four, which vectors need; few tiles, as
  // these are slow to emulate.
  const [of, add] = [
    (kernel: unknown, [m, n, k]: number[]) =>
      case_(kernel, { m, n, k, accumulate: 1 }, matmulData(m, n, k)),
    (kernel: unknown, [m, n, k]: number[]) =>
      case_(
        kernel,
        { m, n, k, addend_stride: 0 },
        { ...matmulData(m, n, k), addend: floats(n, 4) },
      ),
  ]
  const large = [68, 132, 12]
  const small = [36, 68, 12]
  return [
    ...[matmul_nn, matmul_nt, matmul_tn].map((kernel) => of(kernel, large)),
    add(matmul_nt_add, large),
    of(matmulVariant('slices_16x32').kernel('tn'), small),
    // One of each way in which the generated tiles work.
    of(matmulVariant('staged_32x32_4x4').kernel('nt'), small),
    add(matmulVariant('skinny_8x16').kernel('nt_add'), [20, 36, 12]),
  ]
}

const matmulData = (m: number, n: number, k: number) => ({
  a: floats(m * k, 1),
  b: floats(k * n, 2),
  out: floats(m * n, 3),
})

function attentionCases(): Case[] {
  const tiled = {
    forward: attention_forward,
    backwardQuery: attention_backward_query,
    backwardKeyValue: attention_backward_key_value,
  }
  return [tiled, attentionKernels({ width: 37, head_dim: 4 })].flatMap((kernels) => {
    // Barriers are dear on software adapters, so tiles are few.
    const [rows, width, H, K, head_dim] = kernels === tiled ? [2, 20, 2, 1, 8] : [3, 37, 4, 2, 4]
    const sizes = { rows, width, num_attention_heads: H, num_key_value_heads: K, head_dim }
    const params = { ...sizes, scale: 1 / Math.sqrt(head_dim) }
    const tokens = rows * width
    const qkv = floats(tokens * (H + 2 * K) * head_dim)
    const attention_mask = Uint32Array.from({ length: tokens }, (_, i) => Number(i % 7 !== 3))
    const [out, lse] = [floats(tokens * H * head_dim, 2), floats(tokens * H, 3).map((x) => x + 4)]
    const cu_seqlens = Uint32Array.from({ length: rows + 1 }, (_, b) => b * width)
    const back = { qkv, attention_mask, cu_seqlens, out, lse, d_out: floats(out.length, 4) }
    const d_qkv = floats(qkv.length, 5)
    return [
      case_(kernels.forward, params, { qkv, attention_mask, cu_seqlens, out, lse }),
      case_(kernels.backwardQuery, params, { ...back, d_qkv }),
      case_(kernels.backwardKeyValue, params, { ...back, d_qkv }),
    ]
  })
}

function headCases(): Case[] {
  const tiled = {
    forward: vocab_head_forward,
    backwardHidden: vocab_head_backward_hidden,
    backwardWeight: vocab_head_backward_weight,
  }
  const narrow = vocabHeadKernels({ hidden_size: 8, vocab_size: 90 })
  return [tiled, narrow].flatMap((kernels) => {
    const [rows, R, C, V] = kernels === tiled ? [3, 17, 8, 40] : [11, 17, 8, 90]
    const [width, first_column, splits, tokens] = [R + 13, 12, 3, rows * R]
    const params = { tokens, hidden_size: C, vocab_size: V, inv_temperature: 0.8 }
    const ids = Uint32Array.from({ length: tokens }, (_, i) => (i * 31) % V)
    const size = { rows, width, first_column, response_length: R }
    const shared = {
      hidden: floats(rows * width * C),
      weight: floats(V * C),
      scored: listScored(size, ids, ones(tokens)),
    }
    const scores = () => floats(tokens, 6)
    const forward = {
      ...shared,
      log_probs: scores(),
      entropy: scores(),
      lse: scores(),
      sum_pi_squared: scores(),
    }
    const back = {
      ...shared,
      lse: scores().map((x) => x + 4),
      entropy: scores(),
      d_log_probs: floats(tokens, 7),
      d_entropy: floats(tokens, 8),
    }
    const d_hidden = new Float32Array(rows * width * C)
    const partials = floats(splits * V * C)
    return [
      case_(kernels.forward, params, forward),
      case_(kernels.backwardHidden, { ...params, first_id: 0 }, { ...back, d_hidden }),
      case_(kernels.backwardWeight, { ...params, first_id: 0, splits }, { ...back, partials }),
    ]
  })
}

function samplingCases(): Case[] {
  return [sample_token, sample_token_narrow].map((kernel) => {
    const rows = kernel === sample_token ? 9 : 150
    const [V, R, width] = [40, 3, 5]
    const params = {
      rows,
      n: 1,
      row_offset: 0,
      vocab_size: V,
      response_length: R,
      position: 1,
      width,
      column: 4,
      temperature: 1,
      top_k: 5,
      top_p: 0.9,
      seed_low: 11,
      seed_high: 5,
      step: 3,
      eos_count: 1,
      pad_token_id: 1,
    }
    return case_(kernel, params, {
      logits: floats(rows * V),
      eos_token_ids: Uint32Array.of(2),
      ended: Uint32Array.from({ length: rows }, (_, i) => Number(i % 5 === 0)),
      response_ids: ones(rows * R),
      rollout_log_probs: floats(rows * R),
      rollout_entropy: floats(rows * R),
      next_ids: ones(rows),
      attention_mask: ones(rows * width),
    })
  })
}

function optimizerCases(): Case[] {
  const count = 64 * 40
  const betas = { beta1: 0.9, beta2: 0.999, one_minus_beta1: 0.1, one_minus_beta2: 0.001 }
  const values = () => floats(count)
  return [
    case_(
      adamw_update,
      { count, lr: 0.01, ...betas, eps: 1e-8, weight_decay: 0.1, vector_weight_decay: 0 },
      {
        gradients: values(),
        control: Float32Array.of(1, 0.5, 1, 0, 1),
        chunk_segment: new Uint32Array(40),
        corrections: Float32Array.of(0.1, 0.001),
        weights: values(),
        m: values(),
        v: values().map(Math.abs),
      },
    ),
    case_(
      grad_norm_partial,
      { count: 3 * OPTIMIZER_BLOCKS + 77, first: 0, accumulate: 0 },
      { gradients: floats(3 * OPTIMIZER_BLOCKS + 77), partials: floats(OPTIMIZER_BLOCKS) },
    ),
  ]
}

const [ROWS, COLS] = [50, 300]
const all: Case[] = [
  ...matmulCases(),
  ...attentionCases(),
  ...headCases(),
  ...samplingCases(),
  ...optimizerCases(),
  ...[reduce_rows, reduce_rows_short].map((kernel) =>
    case_(kernel, { rows: ROWS, cols: COLS }, { x: floats(ROWS * COLS), out: floats(COLS) }),
  ),
  case_(
    masked_sum,
    { count: 90, sets: 8 },
    { values: floats(720), mask: floats(90).map(Math.round), sums: floats(8) },
  ),
  case_(
    rms_norm_backward,
    { rows: ROWS, cols: COLS, accumulate: 1 },
    {
      x: floats(ROWS * COLS),
      weight: floats(COLS),
      inv_rms: floats(ROWS),
      d_y: floats(ROWS * COLS, 9),
      d_x: floats(ROWS * COLS, 10),
    },
  ),
]

/** Tiles with barriers, of which SwiftShader compiles one in some three seconds. Where LONG_TESTS
 * is set they are cut too. */
const SLOW: readonly unknown[] = [
  matmul_nt,
  matmul_tn,
  attention_backward_query,
  attention_backward_key_value,
  vocab_head_forward,
  vocab_head_backward_hidden,
  vocab_head_backward_weight,
]
const isSlow = ({ name, kernel }: Case) => SLOW.includes(kernel) || /staged|skinny/.test(name)
/** Every second one of the quick ones. */
const cases = process.env.LONG_TESTS
  ? all
  : all.filter((of) => !isSlow(of)).filter((_, i) => i % 2 === 0)

/** Grid of a call in one piece. */
function gridOf({ kernel, params }: Case): Grid {
  const [x, y = 1, z = 1] = kernel.workgroups(params)
  return [x, y, z]
}

/** The bits of everything that the kernel writes, from `count` dispatches. */
async function bits(of: Case, count: number): Promise<Uint32Array[]> {
  const { kernel, params, data } = of
  const tensors = Object.fromEntries(
    Object.entries(data).map(([name, values]) => {
      const dtype = values instanceof Float32Array ? 'f32' : 'u32'
      return [name, gpu.tensor(name, dtype, [values.length], { data: values })]
    }),
  )
  const whole = gridOf(of)
  if (count === 1) await gpu.run(kernel, params, tensors)
  else {
    const partKernel = splitKernel(kernel)
    if (!partKernel) throw new Error(`${kernel.name} cannot be split`)
    for (const { first, grid } of parts(whole, count)) {
      const place = { part_x: first[0], part_y: first[1], grid_x: whole[0], grid_y: whole[1] }
      await gpu.run({ ...partKernel, workgroups: () => grid }, { ...params, ...place }, tensors)
    }
  }
  const written = Object.keys(data).filter(
    (name) => accessOf(kernel.bindings[name]) === 'read_write',
  )
  const read = await gpu.read(...written.map((name) => tensors[name]))
  gpu.free(...Object.values(tensors))
  return read.map((values) => new Uint32Array(values.buffer))
}

test.for(cases)('$name in 2, 3 and 7 parts leaves the same bits', async (of) => {
  const [x, y] = gridOf(of)
  // A grid of one workgroup would show nothing.
  expect(Math.max(x, y)).toBeGreaterThan(1)
  const whole = await bits(of, 1)
  const before = Object.entries(of.data).filter(([name]) => of.kernel.bindings[name] !== 'read')
  expect(whole).not.toEqual(before.map(([, values]) => new Uint32Array(values.buffer)))
  for (const count of [2, 3, 7]) expect(await bits(of, count), `${count} parts`).toEqual(whole)
})

test('parts of folded and of two-dimensional grids, wide and tall, know their places', async () => {
  for (const [groups, width] of [
    [70001, 0],
    [7 * 30, 7],
    [30 * 7, 30],
  ]) {
    const data = { folded: new Uint32Array(groups), flat: new Uint32Array(groups * 2) }
    const of = case_(places, { groups, width }, data)
    const whole = await bits(of, 1)
    expect(whole[0].every((index, i) => index === i)).toBe(true)
    for (const count of [2, 5]) expect(await bits(of, count)).toEqual(whole)
  }
})
