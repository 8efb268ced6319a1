import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  qkNormRopeBackwardRef,
  qkNormRopeForwardRef,
  type RopeInputs,
  type RopeShape,
} from './rope.ref.ts'
import { qk_norm_rope_backward, qk_norm_rope_forward } from './rope.ts'

const gpu = await Gpu.open()

const inverseFrequencies = (head_dim: number) =>
  Float32Array.from({ length: head_dim / 2 }, (_, i) => 10000 ** ((-2 * i) / head_dim))

async function runBoth(
  shape: RopeShape,
  position_ids: Uint32Array,
  { forward = qk_norm_rope_forward, backward = qk_norm_rope_backward } = {},
) {
  const { tokens, num_attention_heads, num_key_value_heads, head_dim } = shape
  const row = (num_attention_heads + 2 * num_key_value_heads) * head_dim
  const inputs = {
    qkv: randomValues(tokens * row, 1).map((x) => x * 5),
    norm_weight: randomValues(2 * head_dim, 2),
    position_ids,
    inv_freq: inverseFrequencies(head_dim),
  } satisfies RopeInputs
  const dOutValues = randomValues(tokens * row, 3)
  const bound = {
    qkv: gpu.tensor('qkv', 'f32', [tokens, row], { data: inputs.qkv }),
    norm_weight: gpu.tensor('norm_weight', 'f32', [2, head_dim], { data: inputs.norm_weight }),
    position_ids: gpu.tensor('position_ids', 'u32', [tokens], { data: position_ids }),
    inv_freq: gpu.tensor('inv_freq', 'f32', [head_dim / 2], { data: inputs.inv_freq }),
  }
  const out = gpu.tensor('out', 'f32', [tokens, row])
  const d_out = gpu.tensor('d_out', 'f32', [tokens, row], { data: dOutValues })
  const d_qkv = gpu.tensor('d_qkv', 'f32', [tokens, row])
  // Ones, because the kernel must overwrite them, with zeros where there is no norm.
  const d_norm_partials = gpu.tensor('d_norm_partials', 'f32', [tokens, 2, head_dim], {
    data: new Float32Array(tokens * 2 * head_dim).fill(1),
  })
  await gpu.run(forward, { ...shape }, { ...bound, out })
  const gradients = { d_out, d_qkv, d_norm_partials }
  await gpu.run(backward, { ...shape }, { ...bound, ...gradients })
  const read = await gpu.read(out, d_qkv, d_norm_partials)
  return { inputs, d_out: dOutValues, read }
}

// One head, fewer k heads than q heads, a prime number of tokens, one token past a workgroup, an
// odd half.
test.for([
  [1, 1, 1, 2],
  [7, 4, 2, 16],
  [65, 3, 1, 6],
  [22, 2, 2, 64],
])(
  'forward and backward match the reference for %i tokens, heads %i and %i of %i',
  async ([tokens, num_attention_heads, num_key_value_heads, head_dim]) => {
    const position_ids = Uint32Array.from({ length: tokens }, (_, i) => (i * 7) % 41)
    for (const has_qk_norm of [0, 1]) {
      const heads = { num_attention_heads, num_key_value_heads, head_dim }
      const shape = { tokens, ...heads, has_qk_norm, eps: 1e-6 }
      const { inputs, d_out, read } = await runBoth(shape, position_ids)
      // WGSL lets cos and sin be off by 2^-11; software adapters are off by up to about 1e-5 of
      // values up to 5.
      const tolerance = { atol: 5e-5, rtol: 1e-5 }
      expectClose(read[0], qkNormRopeForwardRef(inputs, shape), tolerance)
      const backward = qkNormRopeBackwardRef(inputs, d_out, shape)
      expectClose(read[1], backward.d_qkv, tolerance)
      expectClose(read[2], backward.d_norm_partials, tolerance)
    }
  },
)

test('far positions turn as precisely as near ones', async () => {
  const shape = { tokens: 4, num_attention_heads: 1, num_key_value_heads: 1, head_dim: 8 }
  const full = { ...shape, has_qk_norm: 0, eps: 1e-6 }
  const { inputs, read } = await runBoth(full, Uint32Array.of(1000, 4095, 32768, 60001))
  expectClose(read[0], qkNormRopeForwardRef(inputs, full), { atol: 5e-6 })
})

test('a grid folded into two dimensions covers every head', async () => {
  const shape = { tokens: 107, num_attention_heads: 1, num_key_value_heads: 1, head_dim: 2 }
  const full = { ...shape, has_qk_norm: 1, eps: 1e-6 } // 321 heads: 6 workgroups
  const workgroups = () => [4, 2] as const
  const { inputs, d_out, read } = await runBoth(full, new Uint32Array(107).fill(3), {
    forward: { ...qk_norm_rope_forward, workgroups },
    backward: { ...qk_norm_rope_backward, workgroups },
  })
  expectClose(read[0], qkNormRopeForwardRef(inputs, full), { atol: 5e-6 })
  // A head of 2 that points along its gradient leaves almost none of it: the terms cancel.
  const expected = qkNormRopeBackwardRef(inputs, d_out, full)
  expectClose(read[1], expected.d_qkv, { atol: 5e-5, rtol: 1e-4 })
  expectClose(read[2], expected.d_norm_partials, { atol: 5e-6 })
})
