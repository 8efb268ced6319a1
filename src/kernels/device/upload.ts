// Values on their way to the GPU, as whole words.
import { ShapeError } from './errors.ts'
import { elementBytes, sizeOf, type Tensor } from './tensor.ts'

const ARRAYS = { f32: Float32Array, u32: Uint32Array, bfloat16: Uint16Array } as const

/**
 * The words to write for `data` from element `offset` of a tensor on, and the byte of its buffer where they go. bfloat16 begins
 * at an even element; an odd number of them ends the tensor. Throws ShapeError for values of another kind or place.
 */
export function wordsFor(
  tensor: Tensor,
  data: Float32Array | Uint32Array | Uint16Array,
  offset: number,
): { readonly at: number; readonly words: Float32Array | Uint32Array | Uint16Array } {
  const { label, dtype, shape } = tensor
  const end = offset + data.length
  if (end > sizeOf(shape))
    throw new ShapeError(`${label}: ${data.length} values at ${offset} do not fit [${shape}]`)
  if (!(data instanceof ARRAYS[dtype])) throw new ShapeError(`${label}: expected ${dtype} values`)
  const at = (tensor.offset + offset) * elementBytes(dtype)
  const is_whole = data.byteLength % 4 === 0
  if (at % 4 !== 0 || (!is_whole && end !== sizeOf(shape)))
    throw new ShapeError(`${label}: ${data.length} values at ${offset} split a word of two`)
  if (is_whole) return { at, words: data }
  const padded = new Uint16Array(data.length + 1)
  padded.set(data)
  return { at, words: padded }
}
