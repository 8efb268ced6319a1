// Writes the loop over k of a matrix product that reads its factors from their buffers, and every
// multiplication.
import { component, lines, pairs } from './lines.ts'
import { type Factor, placeOf, type Register, rowOf, stored, type Tile, unit } from './tile.ts'

/** `registers` before and after a sum of passes: each pass begins with zeros, and its sums join the
 * totals, in order. */
const emptied = (registers: readonly Register[]): string =>
  registers.map(({ name, type }) => `${name} = ${type}();`).join('\n')
const joined = (registers: readonly Register[]): string =>
  registers.map(({ name }) => `${name}_total += ${name};`).join('\n')
const taken = (registers: readonly Register[]): string =>
  registers.map(({ name }) => `${name} = ${name}_total;`).join('\n')

/** Declares a lane's results. */
export const declared = ({ passes = 1 }: Tile, registers: readonly Register[]): string =>
  registers
    .map(({ name, type }) => {
      const total = passes > 1 ? ` var ${name}_total = ${type}();` : ''
      return `var ${name} = ${type}();${total}`
    })
    .join('\n')

/** A loop over vectors of k where any factor lies along it, else over k. */
const vectorsOfK = (a: Factor, b: Factor) => a.alongK || b.alongK

/** The loop that reads both factors from their buffers and sums into `registers`. */
export function directLoop(
  { slices, passes = 1 }: Tile,
  a: Factor,
  b: Factor,
  registers: readonly Register[],
  hasBias: boolean,
): string {
  // The last row, column or vector is used for those past the edge, whose results are not stored.
  const starts = (factor: Factor) => {
    const { name, count, alongK } = factor
    const size = name === 'a' ? 'm' : 'n'
    const half = stored(factor, count)
    const row = (i: number) => {
      const inHalf = `min(${name}_first + ${placeOf(factor, i % half)}, params.${size} - 1u)`
      return i < half ? inHalf : `(params.n + ${inHalf})`
    }
    return alongK
      ? lines(count, (i) => `let ${name}${i}_at = ${row(i)} * k4;`)
      : lines(
          count / 4,
          (i) =>
            `let ${name}${i}_at = min(${name}_first / 4u + ${placeOf(factor, i)}, ${size}4 - 1u);`,
        )
  }
  const element = ({ name, alongK }: Factor, i: number, p: string) =>
    alongK
      ? `${name}[${name}${i}_at + p]`
      : `${name}[(${p}) * ${name === 'a' ? 'm4' : 'n4'} + ${name}${i}_at]`
  // Lanes past the edge return where no barrier waits for them.
  const skip =
    slices > 1
      ? ''
      : `if (a_first + ${rowOf(a, 0)} >= params.m || b_first + ${unit(b)}u * x >= params.n) { return; }`
  const [first, step] = passes > 1 ? ['start', passes] : ['slice', slices]
  const loop = `for (var p = ${first}; p < ${vectorsOfK(a, b) ? 'k4' : 'params.k'}; p += ${step}u) {
${terms(a, b, element)}
${hasBias ? biasTerms(a) : ''}
}`
  const all =
    passes > 1
      ? `for (var start = 0u; start < ${passes}u; start++) {
${emptied(registers)}
${loop}
${joined(registers)}
}
${taken(registers)}`
      : loop
  return `${skip}
${starts(a)}
${starts(b)}
${all}`
}

/** One trip of the loop over k: c += a · b for a vector of k, or for one k. `element` reads the
 * i-th register of a factor. Each result takes its terms one after another in ascending k, as
 * matmul_tile.wgsl does. */
function terms(
  a: Factor,
  b: Factor,
  element: (factor: Factor, i: number, p: string) => string,
): string {
  const load = (factor: Factor, suffix = '', p = 'p') =>
    lines(
      factor.alongK ? factor.count : factor.count / 4,
      (i) => `let ${factor.name}${i}${suffix} = ${element(factor, i, p)};`,
    )
  if (b.alongK)
    return `${load(a)}
${load(b)}
${lines(4, (q) =>
  pairs(a.count, b.count, (r, c) => `c${r}_${c} += a${r}.${component(q)} * b${c}.${component(q)};`),
)}`
  if (a.alongK)
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
