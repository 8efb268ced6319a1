// Collects the texts that lenses are fitted on and measured by: every token's state counts.
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { listScored } from '../../kernels/vocab_head/scored.ts'
import type { ModelShape } from '../layout/config.ts'
import type { Rows } from '../transformer/rows.ts'
import { createWorkspace, type Workspace } from '../transformer/workspace.ts'

/** Rows of padded texts, [rows, width] each. */
export interface LensRows extends Pick<Rows, 'input_ids' | 'attention_mask' | 'position_ids'> {
  readonly rows: number
  readonly width: number
}

/** Texts of token ids, padded on the right to `width` columns. Rows without a text are all
 * padding. */
export function lensRows(
  texts: readonly (readonly number[])[],
  { rows, width }: { readonly rows: number; readonly width: number },
): LensRows {
  const input_ids = new Uint32Array(rows * width)
  const attention_mask = new Uint32Array(rows * width)
  const position_ids = new Uint32Array(rows * width)
  texts.forEach((ids, b) => {
    ids.forEach((id, c) => {
      const at = b * width + c
      input_ids[at] = id
      attention_mask[at] = 1
      position_ids[at] = c
    })
  })
  return { rows, width, input_ids, attention_mask, position_ids }
}

/** Rows of a pass at most, and tokens; a single row may have more. A Jacobian keeps the activations
 * of all blocks for them. */
const MOST = { rows: 64, tokens: 2048 } as const

/** How a pass over `count` texts of up to `width` tokens is cut. */
export const passSize = (count: number, width: number): Pick<LensRows, 'rows' | 'width'> => ({
  rows: Math.max(1, Math.min(MOST.rows, count, Math.floor(MOST.tokens / width))),
  width,
})

/** Rows of padding alone. */
const emptyRows = (size: Pick<LensRows, 'rows' | 'width'>): LensRows => lensRows([], size)

/** Copies row `from` of a padded batch of the same width into row `to`. */
function setRow(
  rows: LensRows,
  to: number,
  batch: Pick<Rows, 'input_ids' | 'attention_mask' | 'position_ids'>,
  from: number,
): void {
  const { width } = rows
  for (const name of ['input_ids', 'attention_mask', 'position_ids'] as const)
    rows[name].set(batch[name].subarray(from * width, (from + 1) * width), to * width)
}

/** Some rows of a padded batch, a pass of this size after the other. */
export function passesOf(
  batch: Pick<Rows, 'input_ids' | 'attention_mask' | 'position_ids'>,
  which: readonly number[],
  size: Pick<LensRows, 'rows' | 'width'>,
): LensRows[] {
  const passes: LensRows[] = []
  for (const [at, row] of which.entries()) {
    if (at % size.rows === 0) passes.push(emptyRows(size))
    setRow(passes[passes.length - 1], at % size.rows, batch, row)
  }
  return passes
}

/** One pass of rows from all over a batch. */
export function spreadPass(
  batch: Pick<Rows, 'input_ids' | 'attention_mask' | 'position_ids'>,
  which: readonly number[],
  size: Pick<LensRows, 'rows' | 'width'>,
): LensRows {
  const stride = Math.max(1, Math.floor(which.length / size.rows))
  const [pass] = passesOf(
    batch,
    which.filter((_, i) => i % stride === 0),
    size,
  )
  return pass
}

/** Tokens that are there. */
export const tokensIn = ({ attention_mask }: LensRows): number =>
  attention_mask.reduce((sum, isReal) => sum + isReal, 0)

/** A workspace in which every column is scored. `keepsActivations`: for passes back through the
 * blocks. */
export function createLensWorkspace(
  alloc: Allocator,
  shape: ModelShape,
  { rows, width }: Pick<LensRows, 'rows' | 'width'>,
  keepsActivations = false,
): Workspace {
  const size = { rows, width, response_length: width, trains: true, hasLens: true }
  // What an adapter or a run keeps smaller does not matter to a lens.
  const exact = { ...shape, activations_dtype: 'float32' as const }
  const enable_gradient_checkpointing = !keepsActivations
  return createWorkspace(alloc, exact, { ...size, enable_gradient_checkpointing })
}

/** Uploads rows to such a workspace. */
export function uploadLensRows(
  gpu: Pick<Gpu, 'write'>,
  ws: Workspace,
  { rows, width, input_ids, attention_mask, position_ids }: LensRows,
): void {
  const size = { rows, width, first_column: 0, response_length: width }
  gpu.write(ws.input_ids, input_ids)
  gpu.write(ws.attention_mask, attention_mask)
  gpu.write(ws.position_ids, position_ids)
  gpu.write(
    ws.cu_seqlens,
    Uint32Array.from({ length: rows + 1 }, (_, b) => b * width),
  )
  // Every token is read for the one that follows; of the last one that is any.
  const next = input_ids.map((_, i) => input_ids[i + 1] ?? 0)
  gpu.write(ws.response.scored, listScored(size, next, attention_mask))
}
