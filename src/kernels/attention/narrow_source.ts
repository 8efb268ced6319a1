// Writes attention without barriers, one invocation per query, pair of queries or key, written out
// for one head size.
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
const keysOf = (headDim: number): number => (headDim <= 16 ? 2 : 1)

/** Queries of one invocation of the forward. Two of small heads share what is read, and where it
 * lies. */
const queriesOf = (headDim: number): number => (headDim <= 8 ? 2 : 1)

/** The forward's rows and invocations for each: pairs begin where padding ends, so one more than
 * half may be needed. */
export const inPairs = (
  { rows, width }: Readonly<Record<'rows' | 'width', number>>,
  headDim: number,
) => ({ rows, width: queriesOf(headDim) === 1 ? width : Math.floor(width / 2) + 1 })

/** A line with $ is written once per vector of four channels, one with ? once per query of an
 * invocation, LAST being the last of them, and one with ~ once per key of a trip. In halves as in
 * `inHalves`. */
export function narrowSource(wgsl: string, headDim: number, halves = 1): string {
  const [queries, keys, vectors] = [queriesOf(headDim), keysOf(headDim), headDim / 4 / halves]
  const text = inHalves(withoutComments(wgsl), halves).replaceAll('LAST', `${queries - 1}`)
  const source = repeated(repeated(text, '?', queries), '~', keys)
  const constants = `const QUERIES = ${queries}u;\nconst KEYS = ${keys}u;`
  return unrolled(source + constants, vectors, 'VECTORS')
}

/** A head's channels, in vectors of four, and where invocations share them in halves. */
export const narrowElement = (headDim: number, halves = 1): string =>
  ofVectors('vec4f', headDim, halves)

/** The buffers of a new token's kernel. */
export const narrowStepBindings = <B extends Names<Binding>>(bindings: B, headDim: number) =>
  withElements(bindings as Names<Binding>, {
    cache: ofVectors('CachedVector', headDim),
    out: narrowElement(headDim),
  }) as { readonly [K in keyof B]: Binding }

/** The same for a new token's kernel. */
export const narrowStepSource = (wgsl: string, headDim: number): string =>
  narrowSource(wgsl + products, headDim)

/** The same for a kernel whose invocations own queries. */
export function narrowQuerySource(wgsl: string, headDim: number, halves = 1): string {
  const whole = withPart(wgsl, 'narrow_query', narrow_query)
  return narrowSource(whole + products, headDim, halves)
}

/** The source of the backward of queries, and the invocations that share the sums of one query: all
 * of 32 channels would leave some GPUs 3 waves. */
export function narrowQueryBackward(headDim: number): { wgsl: string; halves: number } {
  const halves = headDim > 16 && headDim % 8 === 0 ? 2 : 1
  const key = halves === 1 ? narrow_query_key : narrow_query_key_halves
  const wgsl = withPart(narrow_backward_query, 'narrow_query_key', key)
  return { wgsl: narrowQuerySource(wgsl, headDim, halves), halves }
}
