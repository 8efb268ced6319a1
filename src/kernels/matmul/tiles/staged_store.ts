// Writes the end of a staged product. A tile that lies wholly inside the result asks once whether
// it adds, and reads what it adds to before it writes: else every vector would wait for memory.
// Products without workgroup memory do not have this path: on software adapters, which run them, it
// costs more compilation than it saves.
import { range } from './lines.ts'
import type { Head } from './tile_heads.ts'

/** A vector of four results of a lane: where it is stored, and the register that holds it. */
export interface Result {
  readonly row: string
  readonly col: string
  readonly value: string
}

/** Vectors that are read together before results are stored; more would not fit beside the
 * results. */
const READ = 8
/** Of those that come in pairs. */
const READ_PAIRS = 4

/** Stores a tile of `rows` by `cols`. */
export function storeTile(
  { takes }: Head,
  [rows, cols]: readonly [rows: number, cols: number],
  results: readonly Result[],
): string {
  const place = ({ row, col }: Result) => `${row}, ${col}`
  const all = (some: readonly Result[], line: (result: Result, i: number) => string) =>
    some.map(line).join('\n')
  const put = (result: Result) => `put(${place(result)}, ${result.value});`
  const inParts = (count: number, values: (value: string, before: string) => string) =>
    range(Math.ceil(results.length / count))
      .map((part) => {
        const some = results.slice(part * count, (part + 1) * count)
        // Compilers read what nothing writes as early as they can, and run out of registers: the
        // test holds them back. The first part has none, so that where the buffers lie is read
        // once.
        return `${part > 0 ? `if (${some[0].row} < params.m) ` : ''}{
${all(some, (result, i) => `let before${i} = before(${place(result)});`)}
${all(some, (result, i) => `put(${place(result)}, ${values(result.value, `before${i}`)});`)}
}`
      })
      .join('\n')
  const inside = {
    value: () => all(results, put),
    sum: () => `if (adds()) {
${inParts(READ, (value, before) => `${before} + ${value}`)}
} else {
${all(results, put)}
}`,
    gates: () => inParts(READ_PAIRS, (value, before) => `joined(${value}, ${before})`),
  }
  return `if (a_first + ${rows}u <= params.m && b_first + ${cols}u <= params.n) {
${takes !== 'pair' ? inside[takes]() : ''}
} else {
${all(results, (result) => `store(${place(result)}, ${result.value});`)}
}`
}
