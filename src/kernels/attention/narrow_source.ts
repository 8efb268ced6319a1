// Attention without barriers, one invocation per query, pair of queries or key, written out for one head size.
import { unrolled, withoutComments, withPart } from '../wgsl/compose.ts'
import narrow_query from './attention_narrow_query.wgsl?raw'
import params_source from './attention_params.wgsl?raw'

/** Keys of one trip through the loop of the forward and of a new token: more share one new maximum, and fewer fit in registers. */
const keysOf = (head_dim: number): number => (head_dim <= 16 ? 2 : 1)

/** Queries of one invocation of the forward. Two of small heads share what is read, and where it lies. */
const queriesOf = (head_dim: number): number => (head_dim <= 8 ? 2 : 1)

/** The forward's rows and invocations for each: pairs begin where padding ends, so one more than half may be needed. */
export const inPairs = (
  { rows, width }: Readonly<Record<'rows' | 'width', number>>,
  head_dim: number,
) => ({ rows, width: queriesOf(head_dim) === 1 ? width : Math.floor(width / 2) + 1 })

/** A line with `mark` is written `count` times, with 0, 1, … in its place. */
const repeated = (wgsl: string, mark: string, count: number): string =>
  unrolled(wgsl.replaceAll('$', '\0').replaceAll(mark, '$'), count).replaceAll('\0', '$')

/**
 * A line with $ is written once per vector of four channels, one with ? once per query of an invocation, LAST being the last of
 * them, and one with ~ once per key of a trip.
 */
export function narrowSource(wgsl: string, head_dim: number): string {
  const [queries, keys, vectors] = [queriesOf(head_dim), keysOf(head_dim), head_dim / 4]
  const text = withoutComments(wgsl)
    .replaceAll('LAST', `${queries - 1}`)
    .replaceAll('VECTORS>>', `${vectors}>>`)
  const source = repeated(repeated(text, '?', queries), '~', keys)
  const constants = `const QUERIES = ${queries}u;\nconst KEYS = ${keys}u;`
  return unrolled(source + constants, vectors, 'VECTORS')
}

/** The same for a kernel whose invocations own queries. */
export const narrowQuerySource = (wgsl: string, head_dim: number): string =>
  narrowSource(params_source + withPart(wgsl, 'narrow_query', narrow_query), head_dim)
