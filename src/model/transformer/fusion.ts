// Records the steps of a block that run inside the matrix product before them, and what runs where
// they do not. M tokens, C hidden, F intermediate.

import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { forWeight } from '../../kernels/matmul/bfloat16.ts'
import { fusedKernel } from '../../kernels/matmul/matmul_fused.ts'
import { matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { swiglu_backward, swiglu_forward } from '../../kernels/swiglu/swiglu.ts'
import type { LayerTensors } from '../layout/params.ts'
import type { AdapterTensors } from '../params/adapter_tensors.ts'
import { addLowRank, isLowRank, lowRankGrad } from './low_rank.ts'
import type { BlockPass, Model, Tokens } from './model.ts'
import type { BackwardScratch } from './workspace.ts'

/** gate_up [M, 2F] = ffn_in · gate_up_proj^T and activated [M, F] = silu(gate) · up of block l. */
export function gateUp<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  { ws, l, tokens }: BlockPass<L>,
): void {
  const { shape, matmul, fusion } = model
  const { gate_up_proj } = model.weights.layers[l]
  const { ffn_in, gate_up, activated: out } = ws.layers[l]
  const size = { m: tokens.most, n: shape.intermediate_size, k: shape.hidden_size }
  const m = tokens.count
  // What an adapter adds comes between the product and the activation.
  const fuses = (fusion?.swiglu ?? true) && !isLowRank(model, l, 'gate_up_proj')
  const kernel = fuses ? fusedKernel(matmul, 'nt_swiglu', size) : undefined
  if (kernel) {
    const tensors = { a: ffn_in, b: gate_up_proj, gate_up, out }
    return run(forWeight(kernel, gate_up_proj), { ...size, m }, tensors)
  }
  const plain = { ...size, n: 2 * size.n }
  const product = { a: ffn_in, b: gate_up_proj, out: gate_up }
  const plainKernel = forWeight(matmulKernel(matmul, 'nt', plain), gate_up_proj)
  run(plainKernel, { ...plain, m, accumulate: 0 }, product)
  addLowRank(run, model, { ws, l, tokens }, 'gate_up_proj', { x: ffn_in, y: gate_up })
  run(swiglu_forward, { rows: m, intermediate_size: size.n }, { gate_up, out })
}

/** d_gate_up [M, 2F] from d_hidden [M, C]: back through down_proj [C, F] and silu(gate) · up of
 * block l. Adds to the gradients of an adapter's factors there. */
export function gateUpGrad<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  adapterGrads: AdapterTensors | undefined,
  { ws, l, tokens }: BlockPass<L>,
  { d_hidden, d_activated, d_gate_up }: BackwardScratch,
): void {
  const { shape, matmul, fusion } = model
  const { down_proj } = model.weights.layers[l]
  const { gate_up, activated } = ws.layers[l]
  const size = { m: tokens.most, n: shape.intermediate_size, k: shape.hidden_size }
  const m = tokens.count
  const fuses = (fusion?.swiglu ?? true) && !isLowRank(model, l, 'down_proj')
  const kernel = fuses ? fusedKernel(matmul, 'nn_swiglu', size) : undefined
  if (kernel) {
    const tensors = { a: d_hidden, b: down_proj, gate_up, d_gate_up }
    return run(forWeight(kernel, down_proj), { ...size, m }, tensors)
  }
  const product = { a: d_hidden, b: down_proj, out: d_activated }
  const plain = forWeight(matmulKernel(matmul, 'nn', size), down_proj)
  run(plain, { ...size, m, accumulate: 0 }, product)
  lowRankGrad(
    run,
    model,
    adapterGrads,
    { ws, l, tokens },
    { product: 'down_proj', x: activated, d_y: d_hidden, d_x: d_activated },
  )
  const swiglu = { rows: m, intermediate_size: size.n }
  run(swiglu_backward, swiglu, { gate_up, d_out: d_activated, d_gate_up })
}

/** Adds to the gradients of qkv_proj and, where there is one, of its bias: from d_qkv [M, (H + 2K)
 * · D] and attn_in [M, C]. */
export function qkvGrad<L extends string>(
  run: Recorder<L>['run'],
  { shape, matmul, fusion }: Model,
  tokens: Tokens<L>,
  { d_qkv, attn_in }: { readonly d_qkv: Tensor; readonly attn_in: Tensor },
  { qkv_proj, qkv_bias }: LayerTensors,
): void {
  const size = { m: shape.qkvSize, n: shape.hidden_size, k: tokens.most }
  const params = { ...size, k: tokens.count }
  const fuses = shape.hasQkvBias && (fusion?.biasGradient ?? true)
  const kernel = fuses ? fusedKernel(matmul, 'tn_bias', size) : undefined
  if (kernel) return run(kernel, params, { a: d_qkv, b: attn_in, out: qkv_proj, bias: qkv_bias })
  const product = { a: d_qkv, b: attn_in, out: qkv_proj }
  run(matmulKernel(matmul, 'tn', size), { ...params, accumulate: 1 }, product)
  if (shape.hasQkvBias)
    run(reduceRows(tokens.most), { rows: tokens.count, cols: size.m }, { x: d_qkv, out: qkv_bias })
}
