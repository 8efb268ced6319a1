// Attention without barriers, one invocation per query, pair of queries or key, written out for one head size.
import { unrolled, withPart } from '../wgsl/compose.ts'
import narrow_query from './attention_narrow_query.wgsl?raw'
import params_source from './attention_params.wgsl?raw'

/** Keys of one trip through the loop of the forward and of a new token: more share one new maximum, and fewer fit in registers. */
const keysOf = (head_dim: number): number => (head_dim <= 16 ? 2 : 1)

/** Queries of one invocation of the forward. Two of small heads share what is read, and where it lies. */
const queriesOf = (head_dim: number): number => (head_dim <= 8 ? 2 : 1)

/** Invocations of the forward for a head of a row: pairs begin where padding ends, so one more than half may be needed. */
export const narrowColumns = (width: number, head_dim: number): number =>
  queriesOf(head_dim) === 1 ? width : Math.floor(width / 2) + 1

/** A line with `mark` is written `count` times, with 0, 1, … in its place. */
const repeated = (lines: readonly string[], mark: string, count: number): string[] =>
  lines.flatMap((line) =>
    line.includes(mark)
      ? Array.from({ length: count }, (_, i) => line.replaceAll(mark, `${i}`))
      : [line],
  )

/**
 * A line with $ is written once per vector of four channels, one with ? once per query of an invocation, LAST being the last of
 * them, and one with ~ once per key of a trip. Comments are left out: an adapter reads the text before a run can start.
 */
export function narrowSource(wgsl: string, head_dim: number): string {
  const [queries, keys, vectors] = [queriesOf(head_dim), keysOf(head_dim), head_dim / 4]
  const lines = wgsl
    .replaceAll('LAST', `${queries - 1}`)
    .replaceAll('VECTORS>>', `${vectors}>>`)
    .split('\n')
    .filter((line) => !/^\s*(\/\/|$)/.test(line))
  const source = repeated(repeated(lines, '?', queries), '~', keys).join('\n')
  const constants = `\nconst QUERIES = ${queries}u;\nconst KEYS = ${keys}u;`
  return unrolled(source + constants, vectors, 'VECTORS')
}

/** The same for a kernel whose invocations own queries. */
export const narrowQuerySource = (wgsl: string, head_dim: number): string =>
  narrowSource(params_source + withPart(wgsl, 'narrow_query', narrow_query), head_dim)
