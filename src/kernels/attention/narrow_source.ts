// Attention without barriers, one invocation per query or key, written out for one head size.
import { unrolled, withPart } from '../wgsl/compose.ts'
import narrow_query from './attention_narrow_query.wgsl?raw'
import params_source from './attention_params.wgsl?raw'

/** Keys of one trip through a loop. */
const keysOf = (head_dim: number): number => (head_dim <= 16 ? 2 : 1)
/** Queries of one invocation of the forward: two of small heads share what they read. */
export const queriesOf = (head_dim: number): number => (head_dim <= 8 ? 2 : 1)

/** A line with ~ is written once per key of a trip. */
const perKey = (wgsl: string, mark: string, keys: number): string =>
  wgsl
    .split('\n')
    .flatMap((line) =>
      line.includes(mark) && !line.startsWith('//')
        ? Array.from({ length: keys }, (_, i) => line.replaceAll(mark, String(i)))
        : [line],
    )
    .join('\n')

/** A line with $ is written once per vector of four channels. */
export const narrowSource = (wgsl: string, head_dim: number, queries = 1): string =>
  unrolled(
    perKey(perKey(wgsl.replaceAll('LAST', `${queries - 1}`), '?', queries), '~', keysOf(head_dim)).replaceAll('VECTORS>>', `${head_dim / 4}>>`),
    head_dim / 4,
    'VECTORS',
  ) + `const KEYS = ${keysOf(head_dim)}u;\nconst QUERIES = ${queries}u;\n`

/** The same for a kernel whose invocations own a query each. */
export const narrowQuerySource = (wgsl: string, head_dim: number, queries = 1): string =>
  narrowSource(params_source + withPart(wgsl, 'narrow_query', queries > 1 ? narrow_query.replace('params.width; //COLUMNS', 'params.width / QUERIES + 1u;') : narrow_query), head_dim, queries)
