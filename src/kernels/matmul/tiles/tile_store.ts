// Writes the end of a matrix product: parts of k that lanes hold are summed in a fixed order, and
// the results are stored.
import { lines, pairs, range } from './lines.ts'
import { type Factor, placeOf, rowOf, stored, type Tile, unit } from './tile.ts'
import type { Head, Taken } from './tile_heads.ts'
import { type SharedSum, storeShared } from './tile_subgroups.ts'

/** WGSL `store`, which leaves out what lies past the last row or column; `limit` columns, or
 * vectors of them. */
export function storeFunction({ takes }: Head, type: string, limit: string): string {
  const stores = {
    sum: 'if (adds()) { put(row, col, before(row, col) + value); } else { put(row, col, value); }',
    gates: 'put(row, col, joined(value, before(row, col)));',
    pair: 'put(row, col, value, twin);',
    value: 'put(row, col, value);',
  }
  return `
fn store(row: u32, col: u32, value: ${type}${takes === 'pair' ? `, twin: ${type}` : ''}) {
  if (row >= params.m || col >= ${limit}) { return; }
  ${stores[takes]}
}`
}

/** All lanes of a row have the same sums of the bias; the first stores them. */
export function storeBias({ down, across, slices }: Tile, a: Factor): string {
  const vectors = a.size / 4
  const each = (line: (i: number) => string) => lines(a.count / 4, line)
  if (slices === 1)
    return `if (b_first == 0u && x == 0u) {
${each((i) => `let at${i} = a_first / 4u + ${placeOf(a, i)};\nlet old${i} = bias[min(at${i}, m4 - 1u)];`)}
${each((i) => `if (at${i} < m4) { bias[at${i}] = old${i} + bias${i}; }`)}
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

const storesOwn = ({ slices }: Tile): boolean => slices === 1
/** Whether results are stored by way of storeFunction's `store`. */
export const storesLast = (tile: Tile): boolean => !storesOwn(tile) && !tile.subgroups

/** Gates that are read together before any result of theirs is stored; more would not fit beside
 * the results. */
const READ_GATES = 4

/** Stores a lane's own results. What they join is read before any is stored (of gates a few at a
 * time), else each would wait for memory; where a result lies past the last row or column, the
 * first one's is. Rows and columns are asked for once each, the first not at all: so compilers read
 * once where the buffers lie. */
function storeOwn(tile: Tile, a: Factor, b: Factor, takes: Taken): string {
  const cols = stored(b, b.count / unit(b))
  const [adds, gates] = [takes === 'sum', takes === 'gates']
  const result = (r: number, c: number) =>
    takes === 'pair' ? `c${r}_${c}, c${r}_${c + cols}` : `${gates ? 'g' : 'c'}${r}_${c}`
  // r: a row, v: a column or vector of columns; h: whether it is there, o: the place that is read;
  // g: the result with its gates.
  const place = (name: 'r' | 'v', i: number, at: string, limit: string) => {
    const own =
      adds || gates ? `\nlet o${name}${i} = select(${name}0, ${name}${i}, h${name}${i});` : ''
    const asked = i > 0 ? `\nlet h${name}${i} = ${name}${i} < ${limit};${own}` : ''
    return `let ${name}${i} = ${at};${asked}`
  }
  const own = (name: 'r' | 'v', i: number) => (i === 0 ? `${name}0` : `o${name}${i}`)
  const row = (r: number) => place('r', r, `a_first + ${rowOf(a, r)}`, 'params.m')
  const col = (c: number) => {
    const at = `b_first / ${unit(b)}u + ${c * tile.across}u + x`
    return place('v', c, at, `params.n / ${unit(b)}u`)
  }
  const before = (r: number, c: number) => `before(${own('r', r)}, ${own('v', c)})`
  const puts = (r: number, after = r) => {
    const text = lines(cols, (c) => {
      const put = `put(r${r}, v${c}, ${result(r, c)});`
      return c === 0 ? put : `if (hv${c}) { ${put} }`
    })
    return r === after ? text : `if (hr${r}) {\n${text}\n}`
  }
  const step = gates ? Math.max(1, READ_GATES / cols) : 1
  const rows = (first: number) => {
    const read = gates
      ? pairs(
          step,
          cols,
          (r, c) => `let g${first + r}_${c} = joined(c${first + r}_${c}, ${before(first + r, c)});`,
        )
      : ''
    const text = `${read}\n${lines(step, (r) => puts(first + r, first))}`
    return first === 0 ? text : `if (hr${first}) {\n${text}\n}`
  }
  return `${lines(a.count, row)}
${lines(cols, col)}
${adds ? `if (adds()) {\n${pairs(a.count, cols, (r, c) => `c${r}_${c} += ${before(r, c)};`)}\n}` : ''}
${lines(a.count / step, (i) => rows(i * step))}`
}

/** Stores the results of every lane, summed over the slices where there are several. */
export function storeResults(tile: Tile, a: Factor, b: Factor, { takes }: Head): string {
  const { slices, subgroups } = tile
  if (storesOwn(tile)) return storeOwn(tile, a, b, takes)
  if (!subgroups) return storeSlices(tile, a, b)
  const cols = b.count / unit(b)
  const registers = range(a.count * cols).map((i) => `c${Math.floor(i / cols)}_${i % cols}`)
  return storeShared(registers, slices, (sums) => storeSums(tile, a, b, sums))
}

/** Stores a lane's sums of subgroups. What they are added to is read before any is stored; past the
 * edge, the last result's. */
function storeSums({ across }: Tile, a: Factor, b: Factor, sums: readonly SharedSum[]): string {
  const cols = b.count / unit(b)
  const each = (line: (sum: SharedSum, i: number) => string) => sums.map(line).join('\n')
  const limit = `params.n / ${unit(b)}u`
  return `${each(
    ({ at, value }, i) => `let r${i} = a_first + y * ${a.count}u + (${at}) / ${cols}u;
let v${i} = b_first / ${unit(b)}u + (${at}) % ${cols}u * ${across}u + x;
var sum${i} = ${value};`,
  )}
if (adds()) {
${each((_, i) => `sum${i} += before(min(r${i}, params.m - 1u), min(v${i}, ${limit} - 1u));`)}
}
${each((_, i) => `if (r${i} < params.m && v${i} < ${limit}) { put(r${i}, v${i}, sum${i}); }`)}`
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
${b.inHalves ? sumSlices('twin', `(at + ${reach}u)`, size, slices) : ''}
store(a_first + ${row}, b_first / ${unit(b)}u + ${col}, sum${b.inHalves ? ', twin' : ''});
}`
}
