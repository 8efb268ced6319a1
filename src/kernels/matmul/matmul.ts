// Declares the matrix products of a linear layer and of its gradients.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import { unrolled } from '../wgsl/compose.ts'
import matmul from './matmul.wgsl?raw'
import add from './matmul_nt_add.wgsl?raw'
import tile_source from './matmul_tile.wgsl?raw'

const TILE = 64
const tile = unrolled(tile_source, 8)
const product = {
  params: { m: 'u32', n: 'u32', k: 'u32', accumulate: 'u32' },
  bindings: { a: 'read', b: 'read', out: 'read_write' },
  workgroups: ({ m, n }: { m: number; n: number }) =>
    foldGrid(Math.ceil(m / TILE) * Math.ceil(n / TILE)),
} as const

/** out[m, n] = Σ_k a[m, k] b[k, n]: the gradient of a linear layer's input, d_x = d_y W.
 * `accumulate` 1 adds to what out holds, 0 overwrites it. Each row's result depends on that row
 * alone, to the bit. */
export const matmul_nn = defineKernel({ ...product, name: 'matmul_nn', wgsl: matmul + tile })

/** out[m, n] = Σ_k a[m, k] b[n, k]: a linear layer y = x Wᵀ, with the weight [out, in] as Hugging
 * Face stores it. `accumulate` as in matmul_nn. */
export const matmul_nt = defineKernel({
  ...product,
  name: 'matmul_nt',
  wgsl: matmul + tile,
  constants: { TRANSPOSE_B: 1 },
})

/** out[m, n] = Σ_k a[k, m] b[k, n]: the gradient of a linear layer's weight, d_W = d_yᵀ x, where k
 * counts tokens. `accumulate` as in matmul_nn. */
export const matmul_tn = defineKernel({
  ...product,
  name: 'matmul_tn',
  wgsl: matmul + tile,
  constants: { TRANSPOSE_A: 1 },
})

/** out[m, n] = Σ_k a[m, k] b[n, k] + addend[m · addend_stride + n].
 * `addend_stride` n adds a residual [m, n]; 0 adds a bias [n] to every row. */
export const matmul_nt_add = defineKernel({
  ...product,
  name: 'matmul_nt_add',
  wgsl: add + tile,
  constants: { TRANSPOSE_B: 1 },
  params: { m: 'u32', n: 'u32', k: 'u32', addend_stride: 'u32' },
  bindings: { a: 'read', b: 'read', addend: 'read', out: 'read_write' },
})
