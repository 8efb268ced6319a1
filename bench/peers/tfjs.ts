// Takes the step in TensorFlow.js on its webgpu backend, made fast within its public operations: q,
// k, v and gate, up are single matrices; RMSNorm and cross-entropy have custom gradients of a few
// operations each; q and k go through norm and rotation together; products take transposed operands
// by flag, never through a copy; the attention scale, mask and angles come precomputed; only
// response columns are unembedded; the embedding's gradient is a product with one-hot rows; clip
// and AdamW run once over all parameters as one flat array, not once per parameter; constants are
// uploaded once; everything is in a tidy.
import '@tensorflow/tfjs-backend-webgpu'
import '@tensorflow/tfjs-core/dist/register_all_gradients'
import {
  add,
  backend,
  concat,
  customGrad,
  dispose,
  div,
  exp,
  type GradSaveFunc,
  gather,
  logSoftmax,
  matMul,
  mean,
  minimum,
  mul,
  neg,
  oneHot,
  reshape,
  reverse,
  rsqrt,
  type Scalar,
  scalar,
  sigmoid,
  slice,
  softmax,
  split,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  type Tensor1D,
  tensor,
  tensor1d,
  tidy,
  transpose,
  valueAndGrads,
  zeros,
} from '@tensorflow/tfjs-core'
import type { ModelShape } from '../../src/model/layout/config.ts'
import {
  ADAM_EPS,
  type BlockLeaves,
  CLIP_EPS,
  flatOf,
  type Leaf,
  type Leaves,
  leavesOf,
  listLeaves,
  namedLeaves,
  requireSupported,
  type SftProblem,
  type SftRunner,
  tablesOf,
} from './problem.ts'

/** ids [B · T], targets [B · R], token_weights [B · R, 1], bias [B, 1, T, T], cos and sin [B, 1, T,
 * D]. */
type Inputs = Record<'token_weights' | 'bias' | 'cos' | 'sin', Tensor> &
  Record<'ids' | 'targets', Tensor1D>

/** The parts of tfjs's backend without a public name. */
interface TfBackend {
  readonly device: GPUDevice
  /** null when nothing waits to be submitted. */
  readonly commandEncoder: GPUCommandEncoder | null
  endComputePassEncoder(): void
  submitQueue(): void
}

/** Resolves when the GPU has finished what was queued; tfjs collects commands and submits them in
 * batches. */
export async function finishTf(): Promise<void> {
  const webgpu = backend() as unknown as TfBackend
  webgpu.endComputePassEncoder()
  if (webgpu.commandEncoder) webgpu.submitQueue()
  await webgpu.device.queue.onSubmittedWorkDone()
}

// customGrad passes the function its tensors and, after them, a way to save what the gradient
// needs.

/** x · weight / √(mean(x²) + eps) along the last axis; the weight broadcasts, and sums its gradient
 * over `weightAxes`. */
function rmsNorm(x: Tensor, weight: Tensor, eps: Tensor, weightAxes: number[]): Tensor {
  return customGrad((...args) => {
    const [x, weight, save] = args as unknown as [Tensor, Tensor, GradSaveFunc]
    const invRms = rsqrt(add(mean(square(x), -1, true), eps))
    const normed = mul(x, invRms)
    save([normed, invRms, weight])
    const gradFunc = (d_y: Tensor, saved: Tensor[]) => {
      const [normed, invRms, weight] = saved
      const d_normed = mul(d_y, weight)
      const projection = mean(mul(d_normed, normed), -1, true)
      const d_x = mul(invRms, sub(d_normed, mul(normed, projection)))
      return [d_x, reshape(sum(mul(d_y, normed), weightAxes, true), weight.shape)]
    }
    return { value: mul(normed, weight), gradFunc }
  })(x, weight)
}

/** One-hot rows [n, V] in float32; its default, int32, would be cast at every use. */
const rows = (ids: Tensor1D, V: number): Tensor => oneHot(ids, V, 1, 0, 'float32')

/** Rows of [V, C]; the gradient is a product instead of a scatter. */
function embed(ids: Tensor1D, table: Tensor): Tensor {
  const [V] = table.shape
  return customGrad((...args) => {
    const [table] = args as unknown as [Tensor]
    const gradFunc = (d_y: Tensor) => matMul(rows(ids, V), d_y, true, false)
    return { value: gather(table, ids), gradFunc }
  })(table)
}

/** Σ token_weights · (-log softmax(logits)[target]); logits [n, V], targets [n], token_weights [n,
 * 1]. */
function crossEntropy(logits: Tensor, targets: Tensor1D, tokenWeights: Tensor): Tensor {
  return customGrad((...args) => {
    const [logits, save] = args as unknown as [Tensor, GradSaveFunc]
    const logP = logSoftmax(logits)
    const targetRows = rows(targets, logits.shape[1] ?? 0)
    const value: Tensor = neg(sum(sum(mul(mul(logP, targetRows), tokenWeights), 1)))
    save([logP, targetRows])
    // The gradient of the loss itself is 1, so d_y is left out.
    const gradFunc = (_: Tensor, saved: Tensor[]) => mul(sub(exp(saved[0]), saved[1]), tokenWeights)
    return { value, gradFunc }
  })(logits)
}

/** Residual stream [B · T, C] after one block. */
function block(
  shape: ModelShape,
  [B, T]: readonly [number, number],
  w: BlockLeaves<Tensor>,
  input: Inputs,
  eps: Tensor,
  x: Tensor,
): Tensor {
  const { num_attention_heads: H, head_dim: D, intermediate_size: F } = shape
  const normed = rmsNorm(x, w.attn_norm, eps, [0])
  const qkv = reshape(matMul(normed, w.qkv, false, true), [B, T, 3 * H, D])
  const [qk, v] = split(transpose(qkv, [0, 2, 1, 3]), [2 * H, H], 1)
  const qkWeight = reshape(w.qk_norm, [1, 2, 1, D])
  const qkNormed = rmsNorm(reshape(qk, [B, 2, H * T, D]), qkWeight, eps, [0, 2])
  const swapped = reshape(reverse(reshape(qkNormed, [-1, 2, D / 2]), 1), [B, 2 * H, T, D])
  const straight = reshape(qkNormed, [B, 2 * H, T, D])
  const rotated = add(mul(straight, input.cos), mul(swapped, input.sin))
  const [q, k] = split(rotated, 2, 1)
  const attnProbs = softmax(add(matMul(q, k, false, true), input.bias))
  const context = transpose(matMul(attnProbs, v), [0, 2, 1, 3])
  const middle = add(x, matMul(reshape(context, [B * T, H * D]), w.o, false, true))
  const ffnIn = rmsNorm(middle, w.ffn_norm, eps, [0])
  const [gate, up] = split(matMul(ffnIn, w.gate_up, false, true), [F, F], 1)
  const activated = mul(mul(gate, sigmoid(gate)), up)
  return add(middle, matMul(activated, w.down, false, true))
}

function lossOf(
  { layout, batch }: SftProblem,
  leaves: Leaves<Tensor>,
  input: Inputs,
  eps: Tensor,
): Tensor {
  const { hidden_size: C } = layout.shape
  const { rows: B, prompt_length: P, response_length: R } = batch
  const size = [B, P + R] as const
  let x = embed(input.ids, leaves.embed)
  for (const weights of leaves.blocks) x = block(layout.shape, size, weights, input, eps, x)
  const scored = reshape(slice(reshape(x, [B, P + R, C]), [0, P - 1, 0], [B, R, C]), [B * R, C])
  const states = rmsNorm(scored, leaves.norm, eps, [0])
  const logits = matMul(states, leaves.embed, false, true)
  return crossEntropy(logits, input.targets, input.token_weights)
}

/** Σ x² of a flat array in two stages: one would keep a single workgroup busy and the others
 * idle. */
function squaredNorm(squares: Tensor): Tensor {
  let columns = 1
  while (columns < 1024 && squares.size % (2 * columns) === 0) columns *= 2
  return sum(sum(reshape(squares, [-1, columns]), 1))
}

/** Clip and AdamW on flat arrays. */
function optimizer({ phase }: SftProblem) {
  const { lr, betas, weight_decay } = phase.optim
  const [beta1, beta2] = betas
  const constants = {
    beta1: scalar(beta1),
    beta2: scalar(beta2),
    rest1: scalar(1 - beta1),
    rest2: scalar(1 - beta2),
    decay: scalar(1 - lr * weight_decay),
    one: scalar(1),
    clip_eps: scalar(CLIP_EPS),
    max_norm: scalar(phase.grad_clip),
  }
  let t = 0
  const update = (flat: Tensor, m: Tensor, v: Tensor, gradients: Tensor) => {
    t++
    const c1 = 1 - beta1 ** t
    const rootC2 = Math.sqrt(1 - beta2 ** t)
    const squares = square(gradients)
    const grad_norm = sqrt(squaredNorm(squares))
    const clip = minimum(constants.one, div(constants.max_norm, add(grad_norm, constants.clip_eps)))
    // m and v take the clip factor in their scalar: no array of clipped gradients.
    const nextM = add(mul(m, constants.beta1), mul(gradients, mul(clip, constants.rest1)))
    const nextV = add(mul(v, constants.beta2), mul(squares, mul(square(clip), constants.rest2)))
    const denominator = add(sqrt(nextV), scalar(ADAM_EPS * rootC2))
    const change = mul(div(nextM, denominator), scalar((lr * rootC2) / c1))
    return { flat: sub(mul(flat, constants.decay), change), m: nextM, v: nextV, grad_norm }
  }
  return { update, destroy: () => dispose(Object.values(constants)) }
}

/** Loads the problem into tfjs; `setBackend('webgpu')` comes first. */
export function tfjsSft(problem: SftProblem): SftRunner {
  requireSupported(problem.layout)
  const { rows: B, prompt_length, response_length: R } = problem.batch
  const T = prompt_length + R
  const D = problem.layout.shape.head_dim
  const tables = tablesOf(problem)
  const input: Inputs = {
    ids: tensor1d(tables.ids, 'int32'),
    targets: tensor1d(tables.targets, 'int32'),
    token_weights: tensor(tables.token_weights, [B * R, 1]),
    bias: tensor(tables.bias, [B, 1, T, T]),
    cos: tensor(tables.cos, [B, 1, T, D]),
    sin: tensor(tables.sin, [B, 1, T, D]),
  }
  const eps = scalar(problem.layout.shape.rms_norm_eps)
  const listed: Leaf[] = listLeaves(leavesOf(problem))
  const sizes = listed.map(({ values }) => values.length)
  const N = sizes.reduce((a, b) => a + b)
  const cut = (flat: Tensor): Tensor[] =>
    split(flat, sizes).map((part, i) => reshape(part, [...listed[i].shape]))
  const start = flatOf(listed)
  let state: Record<'flat' | 'm' | 'v', Tensor> = {
    flat: tensor(start),
    m: zeros([N]),
    v: zeros([N]),
  }
  let leaves = tidy(() => cut(state.flat))
  let last: Record<'loss' | 'grad_norm', Tensor> | undefined
  const { update, destroy } = optimizer(problem)
  const valueAndGradients = valueAndGrads(
    (...weights: Tensor[]) => lossOf(problem, namedLeaves(weights), input, eps) as Scalar,
  )
  return {
    step: () => {
      const old = [...Object.values(state), ...leaves, ...(last ? Object.values(last) : [])]
      const next = tidy(() => {
        const { value, grads } = valueAndGradients(leaves)
        const gradients = concat(grads.map((g) => reshape(g, [-1])))
        const updated = update(state.flat, state.m, state.v, gradients)
        return { ...updated, leaves: cut(updated.flat), loss: value }
      })
      dispose(old)
      state = { flat: next.flat, m: next.m, v: next.v }
      leaves = next.leaves
      last = { loss: next.loss, grad_norm: next.grad_norm }
    },
    finish: finishTf,
    read: async () => {
      if (!last) throw new Error('tfjs: no step yet')
      const [[loss], [grad_norm]] = await Promise.all([last.loss.data(), last.grad_norm.data()])
      return { loss, grad_norm }
    },
    destroy: () => {
      dispose([...Object.values(state), ...leaves, ...Object.values(input), eps])
      dispose(last ? Object.values(last) : [])
      destroy()
    },
  }
}
