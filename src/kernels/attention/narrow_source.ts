// Attention without barriers, one invocation per query, pair of queries or key, written out for one
// head size.
import { type Binding, type Names, withElements } from '../device/base/kernel.ts'
import {
  inHalves,
  ofVectors,
  repeated,
  unrolled,
  withoutComments,
  withPart,
} from '../wgsl/compose.ts'
import narrow_backward_query from './attention_narrow_backward_query.wgsl?raw'
import products from './attention_narrow_products.wgsl?raw'
import narrow_query from './attention_narrow_query.wgsl?raw'
import narrow_query_key from './attention_narrow_query_key.wgsl?raw'
import narrow_query_key_halves from './attention_narrow_query_key_halves.wgsl?raw'

/** Keys of one trip through the loop of the forward and of a new token: more share one new maximum,
 * and fewer fit in registers. */
const keysOf = (head_dim: number): number => (head_dim <= 16 ? 2 : 1)

/** Queries of one invocation of the forward. Two of small heads share what is read, and where it
 * lies. */
const queriesOf = (head_dim: number): number => (head_dim <= 8 ? 2 : 1)

/** The forward's rows and invocations for each: pairs begin where padding ends, so one more than
 * half may be needed. */
export const inPairs = (
  { rows, width }: Readonly<Record<'rows' | 'width', number>>,
  head_dim: number,
) => ({ rows, width: queriesOf(head_dim) === 1 ? width : Math.floor(width / 2) + 1 })

/** A line with $ is written once per vector of four channels, one with ? once per query of an
 * invocation, LAST being the last of them, and one with ~ once per key of a trip. In halves as in
 * `inHalves`. */
export function narrowSource(wgsl: string, head_dim: number, halves = 1): string {
  const [queries, keys, vectors] = [queriesOf(head_dim), keysOf(head_dim), head_dim / 4 / halves]
  const text = inHalves(withoutComments(wgsl), halves).replaceAll('LAST', `${queries - 1}`)
  const source = repeated(repeated(text, '?', queries), '~', keys)
  const constants = `const QUERIES = ${queries}u;\nconst KEYS = ${keys}u;`
  return unrolled(source + constants, vectors, 'VECTORS')
}

/** A head's channels, in vectors of four, and where invocations share them in halves. */
export const narrowElement = (head_dim: number, halves = 1): string =>
  ofVectors('vec4f', head_dim, halves)

/** The buffers of a new token's kernel. */
export const narrowStepBindings = <B extends Names<Binding>>(bindings: B, head_dim: number) =>
  withElements(bindings as Names<Binding>, {
    cache: ofVectors('CachedVector', head_dim),
    out: narrowElement(head_dim),
  }) as { readonly [K in keyof B]: Binding }

/** The same for a new token's kernel. */
export const narrowStepSource = (wgsl: string, head_dim: number): string =>
  narrowSource(wgsl + products, head_dim)

/** The same for a kernel whose invocations own queries. */
export function narrowQuerySource(wgsl: string, head_dim: number, halves = 1): string {
  const whole = withPart(wgsl, 'narrow_query', narrow_query)
  return narrowSource(whole + products, head_dim, halves)
}

/** The source of the backward of queries, and the invocations that share the sums of one query: all
 * of 32 channels would leave some GPUs 3 waves. */
export function narrowQueryBackward(head_dim: number): { wgsl: string; halves: number } {
  const halves = head_dim > 16 && head_dim % 8 === 0 ? 2 : 1
  const key = halves === 1 ? narrow_query_key : narrow_query_key_halves
  const wgsl = withPart(narrow_backward_query, 'narrow_query_key', key)
  return { wgsl: narrowQuerySource(wgsl, head_dim, halves), halves }
}
