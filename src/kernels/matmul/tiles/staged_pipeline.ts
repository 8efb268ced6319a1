// Writes what large GPUs may want of a staged product: stages in two buffers, steps written out,
// rows that lanes share differently, and another order of tiles.
import { lines } from './lines.ts'
import type { Pipeline } from './tile.ts'

/** Lanes of a wave, and how many of them lie across its part of the tile. */
const WAVE = { lanes: 32, across: 8 }

/** The lane's place where waves of 32 make parts of 8 by 4 lanes: of both factors they read fewer
 * vectors than a row of lanes does. `across` is a multiple of 8. */
export function wavePlaces(across: number): string {
  const wide = across / WAVE.across
  const down = WAVE.lanes / WAVE.across
  return `let x = own % ${WAVE.across}u + own / ${WAVE.lanes}u % ${wide}u * ${WAVE.across}u;
let y = own / ${WAVE.across}u % ${down}u + own / ${WAVE.lanes * wide}u * ${down}u;`
}

/** Where a workgroup's tile of `rows` by `cols` begins: neighbours in time take bands of `band`
 * tiles down, column by column, so that what they read is still in the cache. */
export const banded = (band: number, rows: number, cols: number): string =>
  `let tiles_down = (params.m + ${rows - 1}u) / ${rows}u;
if (tile >= tiles_down * tiles_across) { return; }
let band_first = tile / (${band}u * tiles_across) * ${band}u;
let in_band = tile % (${band}u * tiles_across);
let band_rows = min(${band}u, tiles_down - band_first);
let a_first = (band_first + in_band % band_rows) * ${rows}u;
let b_first = in_band / band_rows * ${cols}u;`

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
  const base = (s: string) => `let base = ${buffers > 1 ? `${s} % ${buffers}u * ${size}u` : '0u'};`
  const whole = unrolled
    ? lines(stage, (p) => step(`${p}u`))
    : `for (var p = 0u; p < ${stage}u; p++) ${step('p')}`
  return `${places}
var k_at = 0u;
${read}
{
${base('0u')}
${write}
}
workgroupBarrier();
let stages = params.k / ${stage}u;
for (var s = 0u; s < stages; s++) {
k_at += ${stage}u;
${read}
{
${base('s')}
${whole}
${bias(`${stage}u`)}
}
${buffers > 1 ? '' : 'workgroupBarrier();'}
{
${base('(s + 1u)')}
${write}
}
workgroupBarrier();
}
{
${base('stages')}
let left = params.k % ${stage}u;
for (var p = 0u; p < left; p++) {
${step('p')}
}
${bias('left')}
}`
}
