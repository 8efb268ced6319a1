// Attention without barriers, one invocation per query or key, written out for one head size.
import { unrolled, withPart } from '../wgsl/compose.ts'
import narrow_query from './attention_narrow_query.wgsl?raw'
import params_source from './attention_params.wgsl?raw'

/** A line with $ is written once per vector of four channels. */
export const narrowSource = (wgsl: string, head_dim: number): string =>
  unrolled(wgsl.replaceAll('VECTORS>>', `${head_dim / 4}>>`), head_dim / 4, 'VECTORS')

/** The same for a kernel whose invocations own a query each. */
export const narrowQuerySource = (wgsl: string, head_dim: number): string =>
  narrowSource(params_source + withPart(wgsl, 'narrow_query', narrow_query), head_dim)
