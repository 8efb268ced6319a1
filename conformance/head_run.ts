// Puts golden logits through the vocabulary head: the logits of a token are its hidden state, and
// the unembedding is the identity.
import type { Tensor } from '../src/kernels/device/base/tensor.ts'
import { listScored, type PaddedSize, type ScoredTokens } from '../src/kernels/vocab_head/scored.ts'
import {
  type HeadSizes,
  vocabHeadBackwardRef,
  vocabHeadForwardRef,
} from '../src/kernels/vocab_head/vocab_head.ref.ts'
import { type VocabHeadKernels, vocabHeadKernels } from '../src/kernels/vocab_head/vocab_head.ts'
import { CaseError, type Fields } from './base/fields.ts'
import type { Scratch } from './base/gpu_scratch.ts'

type Numbers = ArrayLike<number>

export interface HeadCase {
  readonly sizes: HeadSizes
  readonly rows: PaddedSize
  /** [rows, width, hidden_size]; columns from vocab_size on are 0. */
  readonly hidden: Float64Array
  /** [vocab_size, hidden_size] */
  readonly weight: Float64Array
  /** [rows, response_length] */
  readonly response_ids: Float64Array
}

/** Which columns of a row are predicted, and at which temperature. */
export interface Slice {
  readonly first_column: number
  readonly response_length: number
  readonly temperature: number
}

/** Reads logits [rows, width, V]. `response_ids` [rows, response_length] must be below V. Throws
 * CaseError. */
export function headCase(inputs: Fields, slice: Slice, response_ids: Float64Array): HeadCase {
  const { shape, data } = inputs.tensor('logits', [undefined, undefined, undefined])
  const [rows, width, vocab_size] = shape
  const { first_column, response_length, temperature } = slice
  if (first_column < 0 || first_column + response_length > width)
    throw new CaseError(`inputs.logits: [${shape}] has no columns for ${response_length} tokens`)
  if (response_ids.length !== rows * response_length)
    throw new CaseError(`expected ${rows} x ${response_length} labels, got ${response_ids.length}`)
  if (response_ids.some((id) => !Number.isInteger(id) || id < 0 || id >= vocab_size))
    throw new CaseError(`expected labels from 0 to ${vocab_size - 1}`)
  const sizes = { hidden_size: vocab_size, vocab_size, inv_temperature: 1 / temperature }
  const padding = { rows, width, first_column, response_length }
  return {
    sizes,
    rows: padding,
    hidden: data,
    weight: identity(vocab_size, vocab_size),
    response_ids,
  }
}

function identity(rows: number, columns: number): Float64Array {
  const matrix = new Float64Array(rows * columns)
  for (let i = 0; i < rows; i++) matrix[i * columns + i] = 1
  return matrix
}

/** The same case with the hidden size rounded up to a multiple of 4, which the kernels for small
 * sizes ask for. */
function padded({ sizes, rows, hidden, ...rest }: HeadCase): HeadCase {
  const { vocab_size } = sizes
  const hidden_size = Math.ceil(vocab_size / 4) * 4
  const tokens = rows.rows * rows.width
  const wide = new Float64Array(tokens * hidden_size)
  for (let i = 0; i < tokens; i++)
    wide.set(hidden.subarray(i * vocab_size, (i + 1) * vocab_size), i * hidden_size)
  const weight = identity(vocab_size, hidden_size)
  return { ...rest, rows, sizes: { ...sizes, hidden_size }, hidden: wide, weight }
}

/** The kernels that may run this case, by name. */
export function headVariants(
  one: HeadCase,
): { variant: string; kernels: VocabHeadKernels; one: HeadCase }[] {
  const wide = padded(one)
  const plain = {
    variant: 'tiled',
    kernels: vocabHeadKernels({ hidden_size: 1e6, vocab_size: 1e6 }),
    one,
  }
  const small = { variant: 'narrow', kernels: vocabHeadKernels(wide.sizes), one: wide }
  return small.kernels.forward === plain.kernels.forward ? [plain] : [plain, small]
}

const tokensOf = ({ rows }: HeadCase) => rows.rows * rows.response_length

/** Which tokens are scored: those with mask [rows, response_length] 1, all of them if absent. */
const scoredOf = (
  one: HeadCase,
  mask: Numbers = new Float64Array(tokensOf(one)).fill(1),
): ScoredTokens => ({
  tokens: tokensOf(one),
  scored: listScored(one.rows, one.response_ids, mask),
})

/** log_probs, entropy, lse, sum_pi_squared [rows, response_length] in float64; no token is
 * masked. */
export function headForwardRef(one: HeadCase) {
  return vocabHeadForwardRef(one.sizes, one.hidden, one.weight, scoredOf(one))
}

/** d loss / d logits [rows, width, V] in float64. */
export function headBackwardRef(one: HeadCase, d_log_probs: Numbers, d_entropy: Numbers) {
  const { sizes, hidden, weight } = one
  return vocabHeadBackwardRef(sizes, hidden, weight, scoredOf(one), d_log_probs, d_entropy).d_hidden
}

/** What the head's kernels bind and leave. */
export interface HeadTensors {
  readonly hidden: Tensor
  readonly weight: Tensor
  readonly scored: Tensor
  readonly log_probs: Tensor<'f32'>
  readonly entropy: Tensor<'f32'>
  readonly lse: Tensor<'f32'>
  readonly sum_pi_squared: Tensor<'f32'>
}

/** Uploads a case and runs the forward; `mask` [rows, response_length], ones if absent. */
export async function headForward(
  { gpu, f32, u32, output }: Scratch,
  kernels: VocabHeadKernels,
  one: HeadCase,
  mask?: Numbers,
): Promise<HeadTensors> {
  const { sizes, rows } = one
  const shape = [rows.rows, rows.response_length]
  const tensors = {
    hidden: f32('hidden', [rows.rows * rows.width, sizes.hidden_size], one.hidden),
    weight: f32('weight', [sizes.vocab_size, sizes.hidden_size], one.weight),
    scored: u32('scored', [tokensOf(one), 4], scoredOf(one, mask).scored),
    log_probs: output('log_probs', shape),
    entropy: output('entropy', shape),
    lse: output('lse', shape),
    sum_pi_squared: output('sum_pi_squared', shape),
  }
  await gpu.run(kernels.forward, { ...sizes, tokens: tokensOf(one) }, tensors)
  return tensors
}

/** d loss / d logits [rows, width, V] from gradients on the GPU. */
export async function headBackward(
  { gpu, zeros }: Scratch,
  kernels: VocabHeadKernels,
  one: HeadCase,
  tensors: HeadTensors,
  gradients: { readonly d_log_probs: Tensor; readonly d_entropy: Tensor },
): Promise<Float32Array> {
  const { sizes } = one
  const { rows, width } = one.rows
  const { hidden_size, vocab_size } = sizes
  const d_hidden = zeros('d_hidden', [rows * width, hidden_size])
  const params = { ...sizes, tokens: tokensOf(one), first_id: 0 }
  await gpu.run(kernels.backwardHidden, params, { ...tensors, ...gradients, d_hidden })
  const [wide] = await gpu.read(d_hidden)
  const column = (i: number) => Math.floor(i / vocab_size) * hidden_size + (i % vocab_size)
  return Float32Array.from({ length: rows * width * vocab_size }, (_, i) => wide[column(i)])
}
