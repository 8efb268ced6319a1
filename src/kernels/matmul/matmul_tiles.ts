// Writes out the body of a matrix product for a tile. WGSL has no arrays that surely stay in registers, so every
// register has a name and every multiplication its own statement.
import { peerSource, storeShared } from './matmul_subgroups.ts'
import { type FusedOp, HEADS } from './matmul_tile_heads.ts'

/**
 * The four products of a linear layer. nn: a [m, k] b [k, n], the input's gradient. nt: a [m, k] b [n, k]ᵀ, the layer.
 * tn: a [k, m]ᵀ b [k, n], the weight's gradient. nt_add: nt plus a residual or a bias.
 */
export type MatmulOp = 'nn' | 'nt' | 'tn' | 'nt_add'

/** How one workgroup makes one tile of out: (down · rows) x (across · cols) results. */
export interface Tile {
  /** Lanes down and across the tile. */
  readonly down: number
  readonly across: number
  /** Results of a lane, for nn and tn in vectors of four columns: cols is a multiple of 4, for tn rows too. */
  readonly rows: number
  readonly cols: number
  /** So many lanes share a result, each with its part of k; they are summed in order at the end. */
  readonly slices: number
  /** Steps of k staged in workgroup memory at a time, a multiple of 4; 0 reads the buffers. Not with slices. */
  readonly stage: number
  /** Sums the slices by subgroups (matmul_subgroups.ts) in place of workgroup memory. Counts are powers of two. */
  readonly subgroups?: boolean
}

/** What stands around the body of a product. */
export interface TileFrame {
  /** Params, bindings and `fn store(row, col or vector of four, value)`. */
  readonly head: string
  /** WGSL condition, the same for all lanes: nothing of the tile from row a_first on is needed. */
  readonly is_idle: string
}

/** One factor of the product: `a` lies down the tile, `b` across it. */
interface Factor {
  readonly name: 'a' | 'b'
  /** The lane's place among `lanes`. */
  readonly lane: 'x' | 'y'
  readonly lanes: number
  /** Rows of a or columns of b that a lane holds, and how many the tile has. */
  readonly count: number
  readonly size: number
  /** Vectors of four hold neighbours along k, or rows (columns) at one k. */
  readonly along_k: boolean
  /** A lane's elements are `lanes` apart, so that neighbouring lanes read neighbours; else they are side by side. */
  readonly interleaved: boolean
  /** The second half of the elements lies params.n after the first, in the tile and in each lane: gate and up. */
  readonly in_halves?: boolean
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const lines = (count: number, line: (i: number) => string): string =>
  range(count).map(line).join('\n')
const pairs = (rows: number, cols: number, line: (r: number, c: number) => string): string =>
  lines(rows, (r) => lines(cols, (c) => line(r, c)))
const component = (i: number): string => 'xyzw'[i % 4]

/** The WGSL of a product with k, and where rows or columns are read in vectors these too, multiples of 4. */
export function tileSource(
  op: MatmulOp | FusedOp,
  tile: Tile,
  { head, is_idle }: TileFrame = { head: HEADS[op], is_idle: 'a_first >= params.m' },
): string {
  const { down, across, rows, cols } = tile
  const a: Factor = {
    ...{ name: 'a', lane: 'y', lanes: down, count: rows, size: down * rows },
    along_k: !op.startsWith('tn'),
    interleaved: tile.stage > 0,
  }
  const b: Factor = {
    ...{ name: 'b', lane: 'x', lanes: across, count: cols, size: across * cols },
    along_k: op.startsWith('nt'),
    interleaved: true,
    in_halves: op === 'nt_swiglu',
  }
  const enable = tile.subgroups ? 'enable subgroups;\n' : ''
  return enable + head + memory(tile, a, b) + main(tile, a, b, op === 'tn_bias', is_idle)
}

/** Results are stored one by one where columns of b are read along k, else in vectors of four columns. */
const resultType = (b: Factor) => (b.along_k ? 'f32' : 'vec4f')
const unit = (b: Factor) => (b.along_k ? 1 : 4)
/** Of so many columns in a row, how many are stored by themselves: all, or each with its twin in the other half. */
const stored = (b: Factor, count: number) => (b.in_halves ? count / 2 : count)
/** A staged row along k is one vector longer than needed, so that neighbouring lanes meet other memory banks. */
const stagedWidth = (factor: Factor, stage: number) =>
  factor.along_k ? stage / 4 + 1 : factor.size / 4
const stagedSize = (factor: Factor, stage: number) =>
  stagedWidth(factor, stage) * (factor.along_k ? factor.size : stage)

function memory({ down, across, slices, stage, subgroups }: Tile, a: Factor, b: Factor): string {
  if (subgroups) return peerSource(resultType(b), down * across * slices, slices)
  const staged = ({ name }: Factor, size: number) =>
    `var<workgroup> ${name}_tile: array<vec4f, ${size}>;\n`
  const sums = `var<workgroup> slice_sums: array<${resultType(b)}, ${(slices * a.size * b.size) / unit(b)}>;\n`
  return [
    stage ? staged(a, stagedSize(a, stage)) + staged(b, stagedSize(b, stage)) : '',
    slices > 1 ? sums : '',
  ].join('')
}

function main(tile: Tile, a: Factor, b: Factor, has_bias: boolean, is_idle: string): string {
  const { down, across, slices, stage, subgroups = false } = tile
  const cols = b.count / unit(b)
  const reach = stored(b, b.size)
  const result = (r: number, c: number) =>
    b.in_halves ? `c${r}_${c}, c${r}_${c + cols / 2}` : `c${r}_${c}`
  // Neighbouring lanes read neighbours: along k if slices share it and b lies so, else along the columns.
  const [x, y, slice] =
    b.along_k || subgroups
      ? [`lane / ${slices}u % ${across}u`, `lane / ${slices * across}u`, `lane % ${slices}u`]
      : [`lane % ${across}u`, `lane / ${across}u % ${down}u`, `lane / ${across * down}u`]
  return `
@compute @workgroup_size(${down * across * slices})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,${subgroups ? '\n  @builtin(subgroup_size) subgroup_size: u32,' : ''}
) {
let m4 = params.m / 4u;
let n4 = params.n / 4u;
let k4 = params.k / 4u;
let tile = group.x + group.y * grid.x;
let tiles_across = (params.n + ${reach - 1}u) / ${reach}u;
let a_first = tile / tiles_across * ${a.size}u;
let b_first = tile % tiles_across * ${reach}u;
if (${is_idle}) { return; }
let x = ${x};
let y = ${y};
let slice = ${slice};
${pairs(a.count, cols, (r, c) => `var c${r}_${c} = ${resultType(b)}();`)}
${has_bias ? lines(a.count / 4, (i) => `var bias${i} = vec4f();`) : ''}
${stage ? stagedLoop(tile, a, b, has_bias) : directLoop(tile, a, b, has_bias)}
${storeResults(tile, a, b, result)}
${has_bias ? storeBias(tile, a) : ''}
}
`
}

/** Where a lane's i-th element (or vector of four) lies in the tile. */
const placeOf = ({ lane, lanes, count, along_k, interleaved }: Factor, i: number): string =>
  interleaved ? `${i * lanes}u + ${lane}` : `${lane} * ${along_k ? count : count / 4}u + ${i}u`

/** The row in the tile of a lane's row r. */
const rowOf = (a: Factor, r: number): string =>
  a.along_k ? placeOf(a, r) : `4u * (${placeOf(a, r >> 2)}) + ${r & 3}u`

/** A loop over vectors of k where any factor lies along it, else over k. */
const vectorsOfK = (a: Factor, b: Factor) => a.along_k || b.along_k

function directLoop({ slices }: Tile, a: Factor, b: Factor, has_bias: boolean): string {
  // The last row, column or vector stands in for those past the edge, whose results are not stored.
  const starts = (factor: Factor) => {
    const { name, count, along_k } = factor
    const size = name === 'a' ? 'm' : 'n'
    const half = stored(factor, count)
    const row = (i: number) => {
      const in_half = `min(${name}_first + ${placeOf(factor, i % half)}, params.${size} - 1u)`
      return i < half ? in_half : `(params.n + ${in_half})`
    }
    return along_k
      ? lines(count, (i) => `let ${name}${i}_at = ${row(i)} * k4;`)
      : lines(
          count / 4,
          (i) =>
            `let ${name}${i}_at = min(${name}_first / 4u + ${placeOf(factor, i)}, ${size}4 - 1u);`,
        )
  }
  const element = ({ name, along_k }: Factor, i: number, p: string) =>
    along_k
      ? `${name}[${name}${i}_at + p]`
      : `${name}[(${p}) * ${name === 'a' ? 'm4' : 'n4'} + ${name}${i}_at]`
  // Lanes that lie past the edge have nothing to do where nobody waits for them at a barrier.
  const skip =
    slices > 1
      ? ''
      : `if (a_first + ${rowOf(a, 0)} >= params.m || b_first + ${unit(b)}u * x >= params.n) { return; }`
  return `${skip}
${starts(a)}
${starts(b)}
for (var p = slice; p < ${vectorsOfK(a, b) ? 'k4' : 'params.k'}; p += ${slices}u) {
${terms(a, b, element)}
${has_bias ? biasTerms(a) : ''}
}`
}

function stagedLoop(tile: Tile, a: Factor, b: Factor, has_bias: boolean): string {
  const { stage } = tile
  const element = (factor: Factor, i: number, p: string) => {
    const { name, along_k } = factor
    const place = placeOf(factor, i)
    const width = stagedWidth(factor, stage)
    return along_k
      ? `${name}_tile[(${place}) * ${width}u + p]`
      : `${name}_tile[(${p}) * ${width}u + ${place}]`
  }
  return `var staged = vec4f();
for (var first_p = 0u; first_p < params.k; first_p += ${stage}u) {
${fill(tile, a)}
${fill(tile, b)}
workgroupBarrier();
for (var p = 0u; p < ${vectorsOfK(a, b) ? stage / 4 : stage}u; p++) {
${terms(a, b, element)}
${has_bias ? biasTerms(a) : ''}
}
workgroupBarrier();
}`
}

/** Copies a factor's part of the tile from k = first_p on, with zeros past the end of k. */
function fill({ down, across, stage }: Tile, factor: Factor): string {
  const { name, size, along_k } = factor
  const [vectors, limit] = [stage / 4, name === 'a' ? 'm' : 'n']
  const source = factor.in_halves
    ? `min(${name}_first + row % ${size / 2}u, params.n - 1u) + row / ${size / 2}u * params.n`
    : `min(${name}_first + row, params.${limit} - 1u)`
  const each = `for (var e = lane; e < ${(size * stage) / 4}u; e += ${down * across}u) {`
  return along_k
    ? `${each}
  let row = e / ${vectors}u;
  let p = first_p / 4u + e % ${vectors}u;
  staged = vec4f();
  if (p < k4) { staged = ${name}[(${source}) * k4 + p]; }
  ${name}_tile[e + row] = staged; // a row is one vector longer
}`
    : `${each}
  let p = first_p + e / ${size / 4}u;
  let vector = min(${name}_first / 4u + e % ${size / 4}u, ${limit}4 - 1u);
  staged = vec4f();
  if (p < params.k) { staged = ${name}[p * ${limit}4 + vector]; }
  ${name}_tile[e] = staged;
}`
}

/**
 * One trip of the loop over k: c += a · b for a vector of k, or for one k. `element` reads the i-th register of a factor.
 * Each result takes its terms one after another in ascending k, as matmul_tile.wgsl does.
 */
function terms(
  a: Factor,
  b: Factor,
  element: (factor: Factor, i: number, p: string) => string,
): string {
  const load = (factor: Factor, suffix = '', p = 'p') =>
    lines(
      factor.along_k ? factor.count : factor.count / 4,
      (i) => `let ${factor.name}${i}${suffix} = ${element(factor, i, p)};`,
    )
  if (b.along_k)
    return `${load(a)}
${load(b)}
${lines(4, (q) =>
  pairs(a.count, b.count, (r, c) => `c${r}_${c} += a${r}.${component(q)} * b${c}.${component(q)};`),
)}`
  if (a.along_k)
    return `${load(a)}
${lines(4, (q) =>
  [
    load(b, `_${q}`, `4u * p + ${q}u`),
    pairs(a.count, b.count / 4, (r, c) => `c${r}_${c} += a${r}.${component(q)} * b${c}_${q};`),
  ].join('\n'),
)}`
  return `${load(a)}
${load(b)}
${pairs(a.count, b.count / 4, (r, c) => `c${r}_${c} += a${r >> 2}.${component(r)} * b${c};`)}`
}

/** The bias's terms of one k, A's rows as they are, in the first column of tiles. */
const biasTerms = (a: Factor): string =>
  `if (b_first == 0u) {\n${lines(a.count / 4, (i) => `bias${i} += a${i};`)}\n}`

/** All lanes of a row have the same sums of the bias; the first stores them. */
function storeBias({ down, across, slices }: Tile, a: Factor): string {
  const vectors = a.size / 4
  const each = (line: (i: number) => string) => lines(a.count / 4, line)
  if (slices === 1)
    return `if (b_first == 0u && x == 0u) {
${each((i) => `store_bias(a_first / 4u + ${placeOf(a, i)}, bias${i});`)}
}`
  return `if (b_first == 0u) {
workgroupBarrier();
if (x == 0u) {
${each((i) => `slice_sums[slice * ${vectors}u + ${placeOf(a, i)}] = bias${i};`)}
}
workgroupBarrier();
for (var e = lane; e < ${vectors}u; e += ${down * across * slices}u) {
${sumSlices('sum', 'e', vectors, slices)}
  store_bias(a_first / 4u + e, sum);
}
}`
}

/** Sums the slices in order: slice s has the terms s, s + slices, ... */
const sumSlices = (sum: string, at: string, size: number, slices: number): string =>
  `var ${sum} = slice_sums[${at}];
for (var s = 1u; s < ${slices}u; s++) { ${sum} += slice_sums[s * ${size}u + ${at}]; }`

function storeResults(
  tile: Tile,
  a: Factor,
  b: Factor,
  result: (r: number, c: number) => string,
): string {
  const { across, slices, subgroups } = tile
  const cols = b.count / unit(b)
  const first_col = `b_first / ${unit(b)}u`
  if (subgroups) {
    const registers = range(a.count * cols).map((i) => `c${Math.floor(i / cols)}_${i % cols}`)
    const row = (at: string) => `a_first + y * ${a.count}u + (${at}) / ${cols}u`
    const col = (at: string) => `${first_col} + (${at}) % ${cols}u * ${across}u + x`
    return storeShared(registers, slices, (at, sum) => `store(${row(at)}, ${col(at)}, ${sum});`)
  }
  if (slices > 1) return storeSlices(tile, a, b)
  const store = (r: number, c: number) =>
    `store(a_first + ${rowOf(a, r)}, ${first_col} + ${c * across}u + x, ${result(r, c)});`
  return pairs(a.count, stored(b, cols), store)
}

/** Sums the slices in order: slice s has the terms s, s + slices, ... */
function storeSlices({ down, across, slices }: Tile, a: Factor, b: Factor): string {
  const [cols, width] = [b.count / unit(b), b.size / unit(b)]
  const size = a.size * width
  const place = (r: number, c: number) =>
    `slice * ${size}u + (${rowOf(a, r)}) * ${width}u + ${c * across}u + x`
  const reach = stored(b, width)
  const [row, col] = [`e / ${reach}u`, `e % ${reach}u`]
  return `${pairs(a.count, cols, (r, c) => `slice_sums[${place(r, c)}] = c${r}_${c};`)}
workgroupBarrier();
for (var e = lane; e < ${a.size * reach}u; e += ${down * across * slices}u) {
let at = ${row} * ${width}u + ${col};
${sumSlices('sum', 'at', size, slices)}
${b.in_halves ? sumSlices('twin', `(at + ${reach}u)`, size, slices) : ''}
store(a_first + ${row}, b_first / ${unit(b)}u + ${col}, sum${b.in_halves ? ', twin' : ''});
}`
}
