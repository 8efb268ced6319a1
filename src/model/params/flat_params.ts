// Parameters one behind the other in a flat buffer, as they are laid out.

/** Elements per optimizer chunk: WebGPU's 256-byte binding alignment. */
export const CHUNK = 64

/** One parameter under its Hugging Face name. Several may share one kernel tensor (q, k and v). */
export interface Param {
  readonly name: string
  /** [out, in] for matrices, as in Hugging Face checkpoints. */
  readonly shape: readonly number[]
  /** First element in the flat buffer. */
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

/** A parameter before it has its place in the flat buffer. */
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

/** The flat buffer while it is laid out: slices and segments start at chunks. */
export class FlatParams {
  readonly params: Param[] = []
  readonly segment_ends: number[] = []
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
    return { offset, shape: [rows, ...(parts[0]?.shape.slice(1) ?? [])] }
  }

  closeSegment(): void {
    this.#fillChunk()
    this.segment_ends.push(this.size)
  }

  #fillChunk(): void {
    this.size = Math.ceil(this.size / CHUNK) * CHUNK
  }
}
