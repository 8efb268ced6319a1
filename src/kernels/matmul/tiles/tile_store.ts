// The end of a matrix product: parts of k that lanes hold are summed in a fixed order, and the results are stored.
import { lines, pairs, range } from './lines.ts'
import { type Factor, placeOf, rowOf, stored, type Tile, unit } from './tile.ts'
import type { Head } from './tile_heads.ts'
import { storeShared } from './tile_subgroups.ts'

/** One result of a lane: where it is stored, and the registers that hold it (and its twin in the other half). */
interface Result {
  readonly row: string
  readonly col: string
  readonly values: readonly string[]
}

/** Registers for what is read before results are stored: as many reads are under way together. */
const HELD = 32

/** WGSL `store`, which leaves out what lies past the last row or column; `limit` columns, or vectors of them. */
export function storeFunction({ takes }: Head, type: string, limit: string): string {
  const stores = {
    sum: `if (adds()) { put(row, col, before(row, col) + value); } else { put(row, col, value); }`,
    gates: 'put(row, col, value, before(row, col));',
    pair: 'put(row, col, value, twin);',
    value: 'put(row, col, value);',
  }
  if (!takes) return ''
  return `
fn store(row: u32, col: u32, value: ${type}${takes === 'pair' ? `, twin: ${type}` : ''}) {
  if (row >= params.m || col >= ${limit}) { return; }
  ${stores[takes]}
}`
}

/**
 * Stores a tile of `rows` by `cols`, in vectors of `width`. One that lies wholly inside asks once whether it adds, and reads what it adds to before
 * it writes: else every result would wait for memory.
 */
export function storeTile(
  { takes }: Head,
  [rows, cols, width]: readonly [rows: number, cols: number, width: number],
  results: readonly Result[],
): string {
  const place = ({ row, col }: Result) => `${row}, ${col}`
  const with_tests = results
    .map((result) => `store(${place(result)}, ${result.values.join(', ')});`)
    .join('\n')
  if (!takes) return with_tests
  const all = (some: readonly Result[], line: (result: Result, i: number) => string) =>
    some.map(line).join('\n')
  const put = (result: Result) => `put(${place(result)}, ${result.values.join(', ')});`
  const inParts = (count: number, values: (value: string, before: string) => string) =>
    range(Math.ceil(results.length / count))
      .map((part) => {
        const some = results.slice(part * count, (part + 1) * count)
        return `{
${all(some, (result, i) => `let before${i} = before(${place(result)});`)}
${all(some, (result, i) => `put(${place(result)}, ${values(result.values[0], `before${i}`)});`)}
}`
      })
      .join('\n')
  const stores = {
    pair: () => all(results, put),
    value: () => all(results, put),
    sum: () => `if (adds()) {
${inParts(HELD / width, (value, before) => `${before} + ${value}`)}
} else {
${all(results, put)}
}`,
    gates: () => inParts(HELD / width / 2, (value, before) => `${value}, ${before}`),
  }
  return `if (a_first + ${rows}u <= params.m && b_first + ${cols}u <= params.n) {
${stores[takes]()}
} else {
${with_tests}
}`
}

/** All lanes of a row have the same sums of the bias; the first stores them. */
export function storeBias({ down, across, slices }: Tile, a: Factor): string {
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

/** Stores the results of every lane, summed over the slices where there are several. */
export function storeResults(head: Head, tile: Tile, a: Factor, b: Factor): string {
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
  const values = (r: number, c: number) =>
    b.in_halves ? [`c${r}_${c}`, `c${r}_${c + cols / 2}`] : [`c${r}_${c}`]
  const results = range(a.count).flatMap((r) =>
    range(stored(b, cols)).map((c) => ({
      row: `a_first + ${rowOf(a, r)}`,
      col: `${first_col} + ${c * across}u + x`,
      values: values(r, c),
    })),
  )
  return storeTile(head, [a.size, stored(b, b.size), unit(b)], results)
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
