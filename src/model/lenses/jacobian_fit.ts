// Fits a Jacobian lens: how the last layer's states answer to a change of a layer's, on average.
// Exact: one backward pass for each coordinate of the last state.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { matmul_nn, matmul_tn } from '../../kernels/matmul/matmul.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import type { ModelShape } from '../layout/config.ts'
import { frozenGradients } from '../params/param_tensors.ts'
import { backwardScratch, blockBackward } from '../transformer/block_backward.ts'
import { exactly, type Model } from '../transformer/model.ts'
import { forward } from '../transformer/transformer.ts'
import { createLensWorkspace, type LensRows, uploadLensRows } from './lens_rows.ts'

/** Columns of a row that count, as sources and as targets: real ones, at least `skip_first` from
 * its first real token, and not its last. */
function jacobianColumns(
  { width, attention_mask }: LensRows,
  row: number,
  skip_first: number,
): number[] {
  const columns = Array.from({ length: width }, (_, t) => row * width + t)
  return columns.filter((m) => attention_mask[m]).slice(skip_first, -1)
}

/** Rows with any such columns. */
export const jacobianContexts = (rows: LensRows, skip_first: number): number =>
  Array.from({ length: rows.rows }, (_, b) => jacobianColumns(rows, b, skip_first)).filter(
    (columns) => columns.length > 0,
  ).length

/** Everything on a device, or in a plan. */
export function createJacobianTensors(
  alloc: Allocator,
  shape: ModelShape,
  size: Pick<LensRows, 'rows' | 'width'>,
  layers = shape.num_hidden_layers,
) {
  const { hidden_size: C } = shape
  const f32 = (label: string, ...dims: number[]) => alloc.tensor(`jacobian.${label}`, 'f32', dims)
  const M = size.rows * size.width
  return {
    ws: createLensWorkspace(alloc, shape, size, true),
    /** 1 at columns that count. */
    targets: f32('targets', M, 1),
    /** What each counts in the mean. */
    sources: f32('sources', M, 1),
    identity: f32('identity', C, C),
    unit: f32('unit', 1, C),
    line: f32('line', 1, C),
    /** Of the rows that are loaded, and of all so far, [C, C] each. */
    batch: Array.from({ length: layers }, (_, i) => f32(`batch.${i}`, C, C)),
    sums: Array.from({ length: layers }, (_, i) => f32(`sums.${i}`, C, C)),
  }
}

export type JacobianTensors = ReturnType<typeof createJacobianTensors>

/** J_l [C, C], out by in, of layers 0 … L − 1: the mean over contexts of 1/|V| Σ_{t ∈ V} Σ_{t' ∈ V,
 * t' ≥ t} ∂h^L_{t'} / ∂h^l_t, before the final norm. Rows without such columns are left out. Gurnee
 * et al. 2026, transformer-circuits.pub/2026/workspace. */
export class JacobianFit {
  readonly #gpu: Gpu
  readonly #tensors: JacobianTensors
  readonly #states: Program<never>
  readonly #coordinate: Program<'coordinate'>
  readonly #add: Program<never>

  private constructor(
    gpu: Gpu,
    tensors: JacobianTensors,
    states: Program<never>,
    coordinate: Program<'coordinate'>,
    add: Program<never>,
  ) {
    this.#gpu = gpu
    this.#tensors = tensors
    this.#states = states
    this.#coordinate = coordinate
    this.#add = add
  }

  /** `layers`: those that are fitted, by default all below the last. */
  static async create(
    gpu: Gpu,
    model: Model,
    size: Pick<LensRows, 'rows' | 'width'>,
    {
      layers = Array.from({ length: model.shape.num_hidden_layers }, (_, l) => l),
      tensors = createJacobianTensors(gpu, model.shape, size, layers.length),
    }: { readonly layers?: readonly number[]; readonly tensors?: JacobianTensors } = {},
  ): Promise<JacobianFit> {
    const { hidden_size: C, num_hidden_layers: L } = model.shape
    const { ws, identity, batch, sums } = tensors
    const states = await gpu.record('jacobian_states', [], (r) => forward(r, model, ws))
    const coordinate = await gpu.record('jacobian', ['coordinate'], (r) => {
      const { unit, line, targets, sources } = tensors
      const { d_hidden } = backwardScratch(ws)
      const [M] = targets.shape
      const at = ({ coordinate }: { coordinate: number }) => coordinate * C
      r.copy(identity, unit, { fromOffset: at, count: C })
      const seed = { m: M, n: C, k: 1, accumulate: 0 }
      r.run(matmul_nn, seed, { a: targets, b: unit, out: d_hidden })
      const grads = { ...frozenGradients(model), buffers: model.weights.buffers }
      for (let l = L - 1; l >= Math.min(...layers); l--) {
        blockBackward(r.run, model, grads, { ws, l, tokens: exactly(M) }, false)
        const place = layers.indexOf(l)
        if (place < 0) continue
        const mean = { m: 1, n: C, k: M, accumulate: 0 }
        r.run(matmul_tn, mean, { a: sources, b: d_hidden, out: line })
        r.copy(line, batch[place], { toOffset: at, count: C })
      }
    })
    const add = await gpu.record('jacobian_sum', [], (r) => {
      for (const [l, x] of batch.entries())
        r.run(reduceRows(1), { rows: 1, cols: C * C }, { x, out: sums[l] })
    })
    return new JacobianFit(gpu, tensors, states, coordinate, add)
  }

  /** Back to no rows. A fit begins with it. */
  begin(): void {
    const { identity, sums } = this.#tensors
    const [C] = identity.shape
    this.#gpu.write(
      identity,
      Float32Array.from({ length: C * C }, (_, i) => (i % (C + 1) === 0 ? 1 : 0)),
    )
    for (const sum of sums) this.#gpu.clear(sum)
  }

  /** Adds these rows; `contexts`: how many of all rows count; `coordinates`: only the first so many
   * of the last state, all by default. */
  async add(
    rows: LensRows,
    {
      skip_first,
      contexts,
      coordinates,
    }: { readonly skip_first: number; readonly contexts: number; readonly coordinates?: number },
    onDone: () => void = () => {},
  ): Promise<void> {
    const gpu = this.#gpu
    const { ws, targets, sources, identity } = this.#tensors
    const [targetOf, sourceOf] = [targets, sources].map(({ shape: [M] }) => new Float32Array(M))
    for (let b = 0; b < rows.rows; b++) {
      const columns = jacobianColumns(rows, b, skip_first)
      for (const m of columns) {
        targetOf[m] = 1
        sourceOf[m] = 1 / columns.length / contexts
      }
    }
    uploadLensRows(gpu, ws, rows)
    gpu.write(targets, targetOf)
    gpu.write(sources, sourceOf)
    gpu.replay(this.#states)
    const [C] = identity.shape
    for (let coordinate = 0; coordinate < (coordinates ?? C); coordinate++) {
      gpu.replay(this.#coordinate, { coordinate })
      // A reading now and then keeps the queue short, so that a page can draw.
      if (coordinate % 16 === 15) await gpu.read(this.#tensors.line)
      onDone()
    }
    gpu.replay(this.#add)
  }

  /** Of all rows so far. */
  async read(): Promise<Float32Array[]> {
    return [...(await this.#gpu.read(...this.#tensors.sums))]
  }
}
