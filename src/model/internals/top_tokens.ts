// Finds the likeliest tokens of some states. Their logits are an array, so they are made for as
// many states at a time as it holds.
import type { Recorder } from '../../kernels/device/base/program.ts'
import { type Allocator, type Tensor, viewOf } from '../../kernels/device/base/tensor.ts'
import { TOP_K, top_k } from '../../kernels/top_k/top_k.ts'
import type { ModelShape } from '../layout/config.ts'
import { createLogitsPart, logitsInRanges } from '../transformer/head_ranges.ts'
import { exactly, type Model } from '../transformer/model.ts'
import { linear } from '../transformer/transformer.ts'

/** Bytes of logits at a time, and what the states at a time are a multiple of: parts of tensors are
 * bound at 64 elements. */
const LOGITS_BYTES = 2 ** 26
const ROWS = 64

export interface TopScratch {
  /** [states at a time, V] */
  readonly logits: Tensor
  readonly part: Tensor | undefined
}

/** Room for the logits of up to `states` states. */
export function createTopScratch(alloc: Allocator, shape: ModelShape, states: number): TopScratch {
  const fitting = Math.floor(LOGITS_BYTES / (4 * shape.vocab_size * ROWS)) * ROWS
  const rows = Math.min(states, Math.max(ROWS, fitting))
  return {
    logits: alloc.tensor('top.logits', 'f32', [rows, shape.vocab_size]),
    part: createLogitsPart(alloc, shape, rows),
  }
}

/** The TOP_K likeliest tokens of each of `states` [rows, C] as they are: ids u32, probs [rows, K],
 * likeliest first. */
export function topTokens<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  { shape, weights, matmul }: Model,
  { states, rows }: { readonly states: Tensor; readonly rows: number },
  scratch: TopScratch,
  out: { readonly ids: Tensor; readonly probs: Tensor },
): void {
  const { hidden_size: C, vocab_size } = shape
  const { logits } = scratch
  const most = logits.shape[0]
  for (let first = 0; first < rows; first += most) {
    const count = Math.min(most, rows - first)
    const part = (tensor: Tensor, columns: number) =>
      viewOf(tensor, tensor.label, first * columns, [count, columns])
    const x = part(states, C)
    logitsInRanges(run, shape, { head: weights.lm_head, rows: count }, scratch, (weight, y) =>
      linear(run, exactly(count), { x, weight, out: y }, matmul),
    )
    const top = { ids: part(out.ids, TOP_K), probs: part(out.probs, TOP_K) }
    run(top_k, { rows: count, vocab_size }, { logits, ...top })
  }
}
