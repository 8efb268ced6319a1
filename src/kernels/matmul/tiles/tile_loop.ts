// The loop over k of a matrix product: its factors from the buffers or from workgroup memory, and every multiplication.
import { component, lines, pairs } from './lines.ts'
import { type Factor, placeOf, rowOf, stored, type Tile, unit } from './tile.ts'

/** A staged row along k is one vector longer than needed, so that neighbouring lanes meet other memory banks. */
const stagedWidth = (factor: Factor, stage: number) =>
  factor.along_k ? stage / 4 + 1 : factor.size / 4
/** Vectors of a factor in workgroup memory. */
export const stagedSize = (factor: Factor, stage: number) =>
  stagedWidth(factor, stage) * (factor.along_k ? factor.size : stage)

/** A loop over vectors of k where any factor lies along it, else over k. */
const vectorsOfK = (a: Factor, b: Factor) => a.along_k || b.along_k

/** The loop that reads both factors from their buffers. */
export function directLoop({ slices }: Tile, a: Factor, b: Factor, has_bias: boolean): string {
  // The last row, column or vector is used for those past the edge, whose results are not stored.
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
  // Lanes past the edge return where no barrier waits for them.
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

/** The loop that copies `stage` steps of k to workgroup memory at a time and reads them there. */
export function stagedLoop(tile: Tile, a: Factor, b: Factor, has_bias: boolean): string {
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
