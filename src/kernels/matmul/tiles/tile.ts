// Describes a matrix product, and how a workgroup and its lanes share one tile of the result.

/** The four products of a linear layer. nn: a [m, k] b [k, n], the input's gradient. nt: a [m, k] b
 * [n, k]ᵀ, the layer. tn: a [k, m]ᵀ b [k, n], the weight's gradient. nt_add: nt plus a residual or
 * a bias. */
export type MatmulOp = 'nn' | 'nt' | 'tn' | 'nt_add'

/** How one workgroup makes one tile of out: (down · rows) x (across · cols) results. */
export interface Tile {
  /** Lanes down and across the tile. */
  readonly down: number
  readonly across: number
  /** Results of a lane, for nn and tn in vectors of four columns: cols is a multiple of 4, for tn
   * rows too. */
  readonly rows: number
  readonly cols: number
  /** So many lanes share a result, each with its part of k; they are summed in order at the end. */
  readonly slices: number
  /** Steps of k staged in workgroup memory at a time, a multiple of 4; 0 reads the buffers. rows
   * and cols are multiples of 4. */
  readonly stage: number
  /** A lane sums a result in so many passes, each over every so many-th k, one after another: the
   * bits of as many slices. */
  readonly passes?: number
  /** Sums the slices by subgroups (tile_subgroups.ts) in place of workgroup memory. Counts are
   * powers of two. */
  readonly subgroups?: boolean
  /** How a staged product without slices goes through its stages, where not one after another. */
  readonly pipeline?: Pipeline
}

/** What large GPUs want of a staged product. */
export interface Pipeline {
  /** Stages in workgroup memory; with two, one barrier a stage, and the loop takes two of them. */
  readonly buffers: 1 | 2
  /** Writes out the steps of a stage. A loop over a few of them at a time would not do: Tint no
   * longer sees that its indices lie inside, and limits each. */
  readonly unrolled?: boolean
  /** A factor along k is copied by rows in place of blocks of four by four. */
  readonly byRows?: boolean
}

/** Products that end with the step of training that follows them; matmul_fused.ts says what each
 * is. */
export type FusedOp = 'nt_swiglu' | 'nn_swiglu' | 'tn_bias'

/** One factor of the product: `a` lies down the tile, `b` across it. */
export interface Factor {
  readonly name: 'a' | 'b'
  /** The lane's place among `lanes`. */
  readonly lane: 'x' | 'y'
  readonly lanes: number
  /** Rows of a or columns of b that a lane holds, and how many the tile has. */
  readonly count: number
  readonly size: number
  /** Vectors of four hold neighbours along k, or rows (columns) at one k. */
  readonly alongK: boolean
  /** A lane's elements are `lanes` apart, so that neighbouring lanes read neighbours; else they are
   * side by side. */
  readonly interleaved: boolean
  /** The second half of the elements lies params.n after the first, in the tile and in each lane:
   * gate and up. */
  readonly inHalves?: boolean
}

/** A variable that a lane sums in. */
export interface Register {
  readonly name: string
  readonly type: 'f32' | 'vec4f'
}

/** Results are stored one by one where columns of b are read along k, else in vectors of four
 * columns. */
export const resultType = (b: Factor): Register['type'] => (b.alongK ? 'f32' : 'vec4f')
export const unit = (b: Factor) => (b.alongK ? 1 : 4)
/** Calls of `store` for that many columns of a row: one each, or one for a column and its twin in
 * the other half. */
export const stored = (b: Factor, count: number) => (b.inHalves ? count / 2 : count)
/** Where a lane's i-th element (or vector of four) lies in the tile. */
export const placeOf = ({ lane, lanes, count, alongK, interleaved }: Factor, i: number): string =>
  interleaved ? `${i * lanes}u + ${lane}` : `${lane} * ${alongK ? count : count / 4}u + ${i}u`

/** The row in the tile of a lane's row r. */
export const rowOf = (a: Factor, r: number): string =>
  a.alongK ? placeOf(a, r) : `4u * (${placeOf(a, r >> 2)}) + ${r & 3}u`
