// Records one decoded token of every row as one dispatch, where a workgroup holds the states of
// such a model (kernels/decode/decode_token.ts).
import { decode_token, rowVectors } from '../../kernels/decode/decode_token.ts'
import { sizeOf, type Tensor } from '../../kernels/device/base/tensor.ts'
import type { LayerTensors } from '../layout/params.ts'
import type { ParamTensors } from '../params/param_tensors.ts'
import { headParams, type Model } from '../transformer/model.ts'
import type { Recording } from './recording.ts'

/** The tensors of a block whose places the kernel is told. */
const PARTS = [
  'input_layernorm',
  'qkv_proj',
  'qkv_bias',
  'qk_norm',
  'o_proj',
  'post_attention_layernorm',
  'gate_up_proj',
  'down_proj',
] as const satisfies readonly (keyof LayerTensors)[]

/** Response token t of every row, next_ids, through all blocks, into the last of decode.hidden.
 * False, and nothing recorded, where this rollout takes the kernels one by one. Kernels that were
 * chosen for single products have none here. */
export function recordWholeToken(recording: Recording, t: number): boolean {
  const { gpu, recorder, model, cache, tensors, R } = recording
  const { shape, inv_freq } = model
  const places = recording.wholeTokens ? placesOf(model) : undefined
  const row_vectors = rowVectors(shape)
  const { allCaches, decode } = tensors
  // Long rows have an attention of several kernels.
  if (!places || !row_vectors || !allCaches || decode.qkv_rotated) return false
  const { rows, prompt_length: P } = cache
  const { weights, ...offsets } = places
  recorder.run(
    decode_token,
    {
      ...cache,
      width: P + R,
      column: P + t,
      ...headParams(shape),
      scale: shape.head_dim ** -0.5,
      has_qk_norm: shape.has_qk_norm ? 1 : 0,
      eps: shape.rms_norm_eps,
      hidden_size: shape.hidden_size,
      intermediate_size: shape.intermediate_size,
      layers: shape.num_hidden_layers,
      has_bias: shape.hasQkvBias ? 1 : 0,
      row_vectors,
      cache_stride: sizeOf(allCaches.shape) / shape.num_hidden_layers / 4,
      ...offsets,
    },
    {
      weights,
      cache: allCaches,
      next_ids: tensors.next_ids,
      ended: tensors.ended,
      position_ids: gpu.view(tensors.positions, `positions.${t}`, t * tensors.positions.shape[1], [
        rows,
      ]),
      inv_freq,
      attention_mask: tensors.attention_mask,
      out: decode.hidden[shape.num_hidden_layers % 2],
    },
  )
  return true
}

type Places = Readonly<
  Record<(typeof PARTS)[number] | 'embedding' | 'first_block' | 'block_stride', number>
> & { readonly weights: Tensor }

/** Where the weights lie, in vectors of four; undefined where they are not one buffer of f32 whose
 * blocks lie at even distances. */
function placesOf({ weights }: Model): Places | undefined {
  const [whole, ...others] = weights.buffers.stretches
  const [embedding, ...ranges] = weights.embed_tokens
  const [first, second = first] = weights.layers
  if (others.length || ranges.length || whole.tensor.dtype !== 'f32' || !first) return undefined
  const start = whole.tensor.offset
  const base = first.input_layernorm.offset
  const stride = second.input_layernorm.offset - base
  if (!isEven(weights, stride)) return undefined
  // An absent bias or norm lies before the blocks, and is never read.
  const parts = PARTS.map((name) => [name, Math.max(0, first[name].offset - base) / 4])
  return {
    ...(Object.fromEntries(parts) as Record<(typeof PARTS)[number], number>),
    weights: whole.tensor,
    embedding: (embedding.tensor.offset - start) / 4,
    first_block: (base - start) / 4,
    block_stride: stride / 4,
  }
}

/** Whether each tensor of a block lies `stride` elements behind that of the block before it. */
const isEven = ({ layers: [first, ...rest] }: ParamTensors, stride: number): boolean =>
  rest.every((layer, i) =>
    PARTS.every((name) => {
      const distance = layer[name].offset - first[name].offset
      return distance === (i + 1) * stride || isAbsent(layer[name], layer)
    }),
  )

const isAbsent = (tensor: Tensor, layer: LayerTensors): boolean =>
  tensor.offset < layer.input_layernorm.offset
