// Gives the parameters of a model as its kernels take them: views of the buffers that hold them.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { ModelShape } from '../layout/config.ts'
import type { FlatLayout, Slice } from '../layout/flat_params.ts'
import type { LayerTensors, ParamLayout } from '../layout/params.ts'
import type { AdapterTensors } from './adapter_tensors.ts'
import type { TranslatorTensors } from './lens_tensors.ts'
import {
  type ParamBuffers,
  type RowRange,
  type Stored,
  viewParam,
  viewRows,
} from './param_buffers.ts'

/** The weights of a model: where they lie, and each as its kernels take it. */
export interface ParamTensors {
  readonly buffers: ParamBuffers
  /** [V, C] in ranges of rows: in order, without gaps, and one in most models. */
  readonly embed_tokens: readonly RowRange[]
  /** The same ranges as embed_tokens when the head is tied, and where there is no vocabulary
   * head. */
  readonly lm_head: readonly RowRange[]
  readonly norm: Tensor
  readonly layers: readonly LayerTensors[]
  /** [1, C]; undefined where the model has a vocabulary head. */
  readonly score: Tensor | undefined
  /** [1]; a value head only. */
  readonly score_bias: Tensor | undefined
}

/** Gradients of the weights; undefined where they are not trained. */
export interface ParamGradients {
  readonly buffers: ParamBuffers
  /** Of an adapter, which is trained in place of all the others. */
  readonly adapter?: AdapterTensors | undefined
  /** Of the translator that a policy is read through, where it is fitted. */
  readonly translator?: TranslatorTensors | undefined
  readonly embed_tokens: readonly RowRange[] | undefined
  readonly lm_head: readonly RowRange[] | undefined
  readonly norm: Tensor | undefined
  readonly layers: readonly (LayerTensors | undefined)[]
  readonly score: Tensor | undefined
  readonly score_bias: Tensor | undefined
}

/** Views of buffers that store every parameter. */
export function paramTensors(
  alloc: Allocator,
  layout: ParamLayout,
  buffers: ParamBuffers,
): ParamTensors {
  const { norm, embed_tokens, lm_head, layers, ...views } = paramGradients(alloc, layout, buffers)
  const stored = layers.filter((layer) => layer !== undefined)
  if (!norm || !embed_tokens || !lm_head || stored.length < layers.length)
    throw new ShapeError(`${buffers.label}: expected every parameter of the model`)
  return { norm, embed_tokens, lm_head, layers: stored, ...views }
}

/** Views of buffers that store some segments. */
export function paramGradients(
  alloc: Allocator,
  layout: ParamLayout,
  buffers: ParamBuffers,
): ParamGradients {
  const view = (name: string, slice: Slice) => viewParam(alloc, buffers, name, slice)
  const { embed_tokens, lm_head, norm, layers, score, score_bias } = layout.slices
  const embedding = viewRows(alloc, buffers, 'embed_tokens', embed_tokens)
  return {
    buffers,
    embed_tokens: embedding,
    lm_head: lm_head === embed_tokens ? embedding : viewRows(alloc, buffers, 'lm_head', lm_head),
    norm: view('norm', norm),
    score: score && view('score', score),
    score_bias: score_bias && view('score_bias', score_bias),
    layers: layers.map((layer, l) => layerTensors(alloc, buffers, layer, l)),
  }
}

/** Absent biases and norms view the first chunk of a buffer, which is then never read. */
function layerTensors(
  alloc: Allocator,
  buffers: ParamBuffers,
  layer: LayerTensors<Slice>,
  l: number,
): LayerTensors | undefined {
  if (!viewParam(alloc, buffers, `${l}`, layer.input_layernorm)) return undefined
  const unread = buffers.stretches[0].tensor
  const entries = Object.entries(layer).map(([name, slice]) => [
    name,
    slice.shape[0] === 0
      ? alloc.view(unread, `${buffers.label}.${l}.${name}`, 0, [1])
      : viewParam(alloc, buffers, `${l}.${name}`, slice),
  ])
  return Object.fromEntries(entries) as LayerTensors
}

/** Gradients of a model whose own weights are all frozen. */
export const frozenGradients = ({
  shape,
}: Pick<ParamLayout, 'shape'>): Omit<ParamGradients, 'buffers'> => ({
  embed_tokens: undefined,
  lm_head: undefined,
  norm: undefined,
  score: undefined,
  score_bias: undefined,
  layers: Array.from({ length: shape.num_hidden_layers }, () => undefined),
})

/** The gradients of the segments whose factor of the learning rate is not 0; the others are as if
 * they were frozen for good, so a backward leaves them out. The factors are those of the adapter's
 * layout where one is trained. */
export function trainedGradients(
  { first_block }: Pick<FlatLayout, 'first_block'>,
  gradients: ParamGradients,
  factors: readonly number[] | undefined,
): ParamGradients {
  if (!factors) return gradients
  const { adapter, embed_tokens, lm_head, norm, layers, score, score_bias } = gradients
  const isTrained = (segment: number) => factors[segment] !== 0
  const blocks = adapter?.blocks.map((block, l) => (isTrained(first_block + l) ? block : {}))
  const vectors = adapter?.vectors.map((vector, layer) => (isTrained(layer) ? vector : undefined))
  const end = isTrained(factors.length - 1)
  return {
    ...gradients,
    ...(adapter && blocks && vectors && { adapter: { ...adapter, blocks, vectors } }),
    embed_tokens: isTrained(0) ? embed_tokens : undefined,
    lm_head: isTrained(first_block - 1) ? lm_head : undefined,
    layers: layers.map((layer, l) => (isTrained(first_block + l) ? layer : undefined)),
    norm: end ? norm : undefined,
    score: end ? score : undefined,
    score_bias: end ? score_bias : undefined,
  }
}

/** Which segments of a model are ever trained. */
export type Trains = readonly boolean[] | 'none' | 'all'

/** How the segments of a model are stored: f32 where they are trained, else as the model says. */
export const storedAs =
  ({ dtype = 'float32' }: ModelShape, trains: Trains) =>
  (segment: number): Stored => {
    const isTrained = trains === 'all' || (trains !== 'none' && trains[segment])
    return dtype === 'bfloat16' && !isTrained ? 'bfloat16' : 'f32'
  }
