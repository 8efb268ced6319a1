// Writes what large GPUs want of a staged product: stages in two buffers, and steps written out.
import { lines } from './lines.ts'
import type { Pipeline } from './tile.ts'

/** Parts of the loop over k, as WGSL. They read and write from `base` on. */
export interface StageParts {
  readonly places: string
  /** Reads the stage from k = k_at on into registers. */
  readonly read: string
  readonly write: string
  /** Multiplies step `p` of a stage. */
  readonly step: (p: string) => string
  /** Sums the bias of `limit` steps; empty without one. */
  readonly bias: (limit: string) => string
}

/** The loop over k of a product without slices, of stages of `size` vectors: all whole stages, then
 * what is left of k. What lies past the end of k is read, wherever that may be, and not
 * multiplied. */
export function pipelined(
  { buffers, unrolled }: Pipeline,
  stage: number,
  size: number,
  { places, read, write, step, bias }: StageParts,
): string {
  const whole = unrolled
    ? lines(stage, (p) => step(`${p}u`))
    : `for (var p = 0u; p < ${stage}u; p++) ${step('p')}`
  const from = (base: number, text: string) => `{\nlet base = ${base}u;\n${text}\n}`
  const next = (base: number, nextBase: number) => `k_at += ${stage}u;
${read}
${from(base, `${whole}\n${bias(`${stage}u`)}`)}
${base === nextBase ? 'workgroupBarrier();' : ''}
${from(nextBase, write)}
workgroupBarrier();`
  // Two stages a trip, so that it is known where each buffer begins.
  const trip =
    buffers > 1
      ? `${next(0, size)}
if (s + 1u == stages) { break; }
${next(size, 0)}`
      : next(0, 0)
  return `${places}
var k_at = 0u;
${read}
${from(0, write)}
workgroupBarrier();
let stages = params.k / ${stage}u;
for (var s = 0u; s < stages; s += ${buffers}u) {
${trip}
}
{
let base = ${buffers > 1 ? `stages % 2u * ${size}u` : '0u'};
let left = params.k % ${stage}u;
for (var p = 0u; p < left; p++) ${step('p')}
${bias('left')}
}`
}
