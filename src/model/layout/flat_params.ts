// Lays parameters out one behind the other in the order of one flat array, cut into segments. Which
// buffers hold them is param_buffers.ts's part.
import { VECTOR_CHUNK } from '../../kernels/optimizer/control.ts'

/** Elements per optimizer chunk: WebGPU's 256-byte binding alignment, for f32. */
export const CHUNK = 64

/** One parameter under its Hugging Face name. Several may share one kernel tensor (q, k and v). */
export interface Param {
  readonly name: string
  /** [out, in] for matrices, as in Hugging Face checkpoints. */
  readonly shape: readonly number[]
  /** First element in the flat order. */
  readonly offset: number
  readonly size: number
  /** Standard deviation at initialisation; undefined = ones (norms) or zeros (biases). */
  readonly init: { readonly std: number } | { readonly fill: number }
}

/** A kernel's view: one or more parameters side by side. Starts at a multiple of 64 elements. */
export interface Slice {
  readonly offset: number
  readonly shape: readonly number[]
}

/** Parameters in the order of a flat array: those of a transformer, or those of an adapter beside
 * one. */
export interface FlatLayout {
  readonly params: readonly Param[]
  /** Elements of a flat array, padding included. */
  readonly size: number
  /** Ends of the segments, in elements. Each has an optimizer's step count and rate of its own. */
  readonly segment_ends: readonly number[]
  /** What kernels bind, in order. */
  readonly placed: readonly Slice[]
  /** The segment of block 1: before it come the embedding and the untied head, where there are
   * any. */
  readonly first_block: number
  /** L */
  readonly numBlocks: number
}

/** A parameter before it has its place. */
type Unplaced = Pick<Param, 'name' | 'shape' | 'init'>

export const matrix = (
  name: string,
  rows: number,
  cols: number,
  std = 1 / Math.sqrt(cols),
): Unplaced => ({ name: `${name}.weight`, shape: [rows, cols], init: { std } })
export const norm = (name: string, size: number): Unplaced => ({
  name: `${name}.weight`,
  shape: [size],
  init: { fill: 1 },
})
export const bias = (name: string, size: number): Unplaced => ({
  name: `${name}.bias`,
  shape: [size],
  init: { fill: 0 },
})

/** A vector that begins at 0, under its whole name. */
export const zeros = (name: string, size: number): Unplaced => ({
  name,
  shape: [size],
  init: { fill: 0 },
})

/** The flat order while it is laid out: slices and segments start at chunks. */
export class FlatParams {
  readonly params: Param[] = []
  readonly segment_ends: number[] = []
  readonly placed: Slice[] = []
  /** Elements so far. */
  size = 0

  /** The next slice: these parameters without gaps, stacked along their first dimension. */
  place(...parts: readonly Unplaced[]): Slice {
    this.#fillChunk()
    const offset = this.size
    for (const part of parts) {
      const size = part.shape.reduce((a, b) => a * b, 1)
      this.params.push({ ...part, offset: this.size, size })
      this.size += size
    }
    const rows = parts.reduce((n, part) => n + part.shape[0], 0)
    const slice = { offset, shape: [rows, ...(parts[0]?.shape.slice(1) ?? [])] }
    if (rows > 0) this.placed.push(slice)
    return slice
  }

  closeSegment(): void {
    this.#fillChunk()
    this.segment_ends.push(this.size)
  }

  #fillChunk(): void {
    this.size = Math.ceil(this.size / CHUNK) * CHUNK
  }
}

/** The first element of a segment. */
export const segmentStart = (
  { segment_ends }: Pick<FlatLayout, 'segment_ends'>,
  segment: number,
) => (segment === 0 ? 0 : segment_ends[segment - 1])

/** Elements and segments that a policy read after `layer` blocks trains; all of them for the final
 * policy. */
export function trainedPrefix(
  { segment_ends, first_block, numBlocks }: Omit<FlatLayout, 'params' | 'placed'>,
  layer: number,
): { count: number; segments: number } {
  const segments = layer === numBlocks ? segment_ends.length : first_block + layer
  return { count: segments === 0 ? 0 : segment_ends[segments - 1], segments }
}

/** The segment of every chunk of CHUNK elements, [size / CHUNK], marked VECTOR_CHUNK where it holds
 * norms or biases. */
export function chunkSegments(
  layout: Pick<FlatLayout, 'params' | 'size' | 'segment_ends'>,
): Uint32Array {
  const segments = new Uint32Array(layout.size / CHUNK)
  let start = 0
  layout.segment_ends.forEach((end, segment) => {
    segments.fill(segment, start / CHUNK, end / CHUNK)
    start = end
  })
  for (const { offset, size, shape } of layout.params)
    if (shape.length === 1)
      for (let chunk = Math.floor(offset / CHUNK); chunk * CHUNK < offset + size; chunk++)
        segments[chunk] = (segments[chunk] | VECTOR_CHUNK) >>> 0
  return segments
}
