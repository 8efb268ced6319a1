// Keeps in bfloat16, in half the memory, what blocks need for their backward (activations_dtype).
// All blocks compute in one set of float32 activations: after a block's forward they are rounded
// and stored, before its backward they are read back. So a forward pass has the bits that it has
// without this, and gradients differ by the rounding. Every sum is in float32.
import { from_bfloat16, to_bfloat16 } from '../../kernels/bfloat16/bfloat16.ts'
import { derived, type Recorder } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import type { Tokens } from './model.ts'
import { HALVED, type Workspace } from './workspace.ts'

/** Stores what block `l` has just computed, where it is kept in halves. */
export const storeHalves = <L extends string>(
  run: Recorder<L>['run'],
  ws: Workspace,
  l: number,
  tokens: Tokens<L>,
): void =>
  eachHalf(ws, l, (exact, half) =>
    run(to_bfloat16, pairsOf(exact, tokens), { x: exact, out: half }),
  )

/** Reads back what block `l` kept. */
export const loadHalves = <L extends string>(
  run: Recorder<L>['run'],
  ws: Workspace,
  l: number,
  tokens: Tokens<L>,
): void =>
  eachHalf(ws, l, (exact, half) =>
    run(from_bfloat16, pairsOf(exact, tokens), { x: half, out: exact }),
  )

function eachHalf(ws: Workspace, l: number, use: (exact: Tensor, half: Tensor) => void): void {
  const halves = ws.halves?.[l]
  if (halves) for (const name of HALVED) use(ws.layers[l][name], halves[name])
}

const pairsOf = <L extends string>({ shape }: Tensor, { count }: Tokens<L>) => ({
  words: derived(count, (tokens) => (tokens * shape[1]) / 2),
})
