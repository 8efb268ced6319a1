// Takes the step in jax-js, made fast: everything from forward to AdamW is one jit-compiled
// function of value_and_grad; q, k, v and gate, up are single matrices; the rotary embedding flips
// a view, so it fuses into its neighbours without a concatenation; the attention scale, mask and
// angles come precomputed; only response columns are unembedded; the powers of Adam's betas live on
// the GPU, so nothing is uploaded and nothing recompiled; every step gives up the old state's
// memory.
import {
  getWebGPUDevice,
  type Array as JaxArray,
  jit,
  nn,
  numpy,
  tree,
  valueAndGrad,
} from '@jax-js/jax'
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

// jax-js needs type aliases here: an interface is not a JsTree.
type Inputs = Record<'ids' | 'targets' | 'token_weights' | 'bias' | 'cos' | 'sin', JaxArray>
/** Weights and moments are flat, [N]; a parameter is a view of them. */
type State = {
  flat: JaxArray
  m: JaxArray
  v: JaxArray
  /** [2]: β₁ᵗ and β₂ᵗ. */
  powers: JaxArray
}
type Result = { state: State; loss: JaxArray; grad_norm: JaxArray }

/** y [..., out] = x [..., in] · weight [out, in]ᵀ. */
const linear = (x: JaxArray, weight: JaxArray): JaxArray => numpy.einsum('...i,oi->...o', x, weight)

const inverseRms = (x: JaxArray, eps: number): JaxArray =>
  numpy.reciprocal(numpy.sqrt(numpy.square(x).mean(-1, { keepdims: true }).add(eps)))

const rmsNorm = (x: JaxArray, weight: JaxArray, eps: number): JaxArray =>
  x.ref.mul(inverseRms(x, eps)).mul(weight)

/** Residual stream [B, T, C] after one block. */
function block(
  shape: ModelShape,
  weights: BlockLeaves<JaxArray>,
  input: Inputs,
  x: JaxArray,
): JaxArray {
  const { num_attention_heads: H, head_dim: D, rms_norm_eps: eps, intermediate_size: F } = shape
  const [B, T] = x.shape
  const qkv = linear(rmsNorm(x.ref, weights.attn_norm, eps), weights.qkv).reshape([B, T, 3, H, D])
  const v = qkv.ref.slice([], [], 2)
  const qk = rmsNorm(qkv.slice([], [], [0, 2]), weights.qk_norm.reshape([2, 1, D]), eps)
  const halves = qk.reshape([B, T, 2, H, 2, D / 2])
  const rotated = halves.ref
    .mul(input.cos)
    .add(numpy.flip(halves, 4).mul(input.sin))
    .reshape([B, T, 2, H, D])
  const q = rotated.ref.slice([], [], 0)
  const k = rotated.slice([], [], 1)
  const context = nn.dotProductAttention(q, k, v, { bias: input.bias, scale: 1 })
  const middle = x.add(linear(context.reshape([B, T, H * D]), weights.o))
  const gateUp = linear(rmsNorm(middle.ref, weights.ffn_norm, eps), weights.gate_up)
  const gate = gateUp.ref.slice([], [], [0, F])
  const up = gateUp.slice([], [], [F])
  return middle.add(linear(nn.silu(gate).mul(up), weights.down))
}

/** Mean cross-entropy of the response tokens. */
function lossOf(
  shape: ModelShape,
  firstColumn: number,
  params: Leaves<JaxArray>,
  input: Inputs,
): JaxArray {
  const { vocab_size: V, rms_norm_eps: eps } = shape
  const [B, R] = input.targets.shape
  const { ids, targets, token_weights, ...shared } = input
  // A gather's gradient is a scatter with compare-and-swap loops; a product with one-hot rows has
  // none.
  const oneHot = numpy.where(ids.reshape([...ids.shape, 1]).equal(numpy.arange(V)), 1, 0)
  let x = numpy.einsum('btv,vc->btc', oneHot, params.embed.ref)
  for (const weights of params.blocks) x = block(shape, weights, tree.ref(shared) as Inputs, x)
  tree.dispose(shared)
  const states = rmsNorm(x.slice([], [firstColumn, firstColumn + R]), params.norm, eps)
  const logits = linear(states, params.embed)
  const isTarget = targets.reshape([B, R, 1]).equal(numpy.arange(V))
  const target = numpy.where(isTarget, logits.ref, 0).sum(-1)
  return nn.logsumexp(logits, -1).sub(target).mul(token_weights).sum()
}

/** The parameters as views of a flat array, which it takes over. */
function viewsOf(listed: Leaf[], flat: JaxArray): JaxArray[] {
  let end = 0
  const views = listed.map(({ values, shape }) => {
    const start = end
    end += values.length
    return flat.ref.slice([start, end]).reshape([...shape])
  })
  flat.dispose()
  return views
}

/** Flat arrays one after another; a kernel reads at most 8, so in rounds. */
function join(parts: JaxArray[]): JaxArray {
  if (parts.length === 1) return parts[0]
  const groups = Array.from({ length: Math.ceil(parts.length / 7) }, (_, i) =>
    numpy.concatenate(parts.slice(7 * i, 7 * i + 7)),
  )
  return join(groups)
}

/** Σ x² of a flat array in two stages: a single sum would keep one workgroup busy and the others
 * idle. */
function squaredNorm(x: JaxArray): JaxArray {
  let columns = 1
  while (columns < 1024 && x.size % (2 * columns) === 0) columns *= 2
  return numpy
    .square(x.reshape([-1, columns]))
    .sum(-1)
    .sum()
}

/** One step; takes over the state that it is given. */
function makeStep({ layout, batch, phase }: SftProblem, listed: Leaf[]) {
  const { lr, betas, weight_decay } = phase.optim
  const [beta1, beta2] = betas
  const loss = (leaves: JaxArray[], input: Inputs) =>
    lossOf(layout.shape, batch.prompt_length - 1, namedLeaves(leaves), input)
  return jit(({ flat, m, v, powers }: State, input: Inputs): Result => {
    const [value, grads] = valueAndGrad(loss)(viewsOf(listed, flat.ref), input)
    const gradient = join((grads as JaxArray[]).map((g) => g.reshape([-1])))
    const grad_norm = numpy.sqrt(squaredNorm(gradient.ref))
    const clip = numpy.minimum(
      1,
      numpy.reciprocal(grad_norm.ref.add(CLIP_EPS)).mul(phase.grad_clip),
    )
    const nextPowers = powers.mul(numpy.array([beta1, beta2]))
    const c1 = numpy.subtract(1, nextPowers.ref.slice(0))
    const c2 = numpy.subtract(1, nextPowers.ref.slice(1))
    const clipped = gradient.mul(clip)
    const nextM = m.mul(beta1).add(clipped.ref.mul(1 - beta1))
    const nextV = v.mul(beta2).add(numpy.square(clipped).mul(1 - beta2))
    const denominator = numpy.sqrt(nextV.ref).div(numpy.sqrt(c2)).add(ADAM_EPS)
    const change = nextM.ref.div(denominator).div(c1).mul(lr)
    const nextFlat = flat.mul(1 - lr * weight_decay).sub(change)
    const state = { flat: nextFlat, m: nextM, v: nextV, powers: nextPowers }
    return { state, loss: value, grad_norm }
  })
}

/** Loads the problem into jax-js; `init` and `defaultDevice('webgpu')` come first. */
export function jaxSft(problem: SftProblem): SftRunner {
  requireSupported(problem.layout)
  const { rows: B, prompt_length, response_length: R } = problem.batch
  const T = prompt_length + R
  const D = problem.layout.shape.head_dim
  const tables = tablesOf(problem)
  const angles = [B, T, 1, 1, 2, D / 2]
  const input: Inputs = {
    ids: numpy.array(tables.ids, { shape: [B, T] }),
    targets: numpy.array(tables.targets, { shape: [B, R] }),
    token_weights: numpy.array(tables.token_weights, { shape: [B, R] }),
    bias: numpy.array(tables.bias, { shape: [B, 1, T, T] }),
    cos: numpy.array(tables.cos, { shape: angles }),
    sin: numpy.array(tables.sin, { shape: angles }),
  }
  const listed = listLeaves(leavesOf(problem))
  const start = flatOf(listed)
  const step = makeStep(problem, listed)
  let state: State = {
    flat: numpy.array(start),
    m: numpy.zeros([start.length]),
    v: numpy.zeros([start.length]),
    powers: numpy.ones([2]),
  }
  let last: { loss: JaxArray; grad_norm: JaxArray } | undefined
  let submitted: Promise<unknown> = Promise.resolve()
  return {
    step: () => {
      const result = step(state, tree.ref(input) as Inputs) as Result
      if (last) tree.dispose(last)
      state = result.state
      last = { loss: result.loss, grad_norm: result.grad_norm }
      // Arrays are lazy: this hands the step's kernels to the queue, without waiting for them here.
      const mark = result.loss.ref
      submitted = mark.blockUntilReady().then(() => mark.dispose())
    },
    finish: async () => {
      await submitted
      await getWebGPUDevice().queue.onSubmittedWorkDone()
    },
    read: async () => {
      if (!last) throw new Error('jax: no step yet')
      const [[loss], [grad_norm]] = await Promise.all([
        last.loss.ref.data(),
        last.grad_norm.ref.data(),
      ])
      return { loss, grad_norm }
    },
    destroy: () => {
      tree.dispose([state, input, last])
      step.dispose()
    },
  }
}
