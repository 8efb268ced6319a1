// Takes Muon's steps of matrices, one matrix after the other. A matrix is a parameter under its
// Hugging Face name, also where several share one product, as in torch. What Muon leaves to AdamW
// are the stretches between them.
import type { LiveValues, Recorder } from '../../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../../kernels/device/base/tensor.ts'
import {
  type MatmulChoice,
  type MatmulSize,
  matmulKernel,
} from '../../../kernels/matmul/matmul_variants.ts'
import {
  muon_direction,
  muon_normalize,
  muon_polynomial,
  muon_update,
  muon_update_rates,
} from '../../../kernels/muon/muon.ts'
import { grad_norm_partial } from '../../../kernels/optimizer/optimizer.ts'
import { CHUNK, type FlatLayout, segmentStart } from '../../../model/layout/flat_params.ts'
import { type Muon, muonLrRatio } from '../../config/muon.ts'

/** A parameter that Muon updates. */
export interface MuonMatrix {
  /** First element in the flat order. */
  readonly offset: number
  readonly rows: number
  readonly columns: number
  readonly segment: number
}

/** The matrices of blocks, or of an adapter. Embedding, head, score, norms and biases are left to
 * AdamW. */
export const muonMatrices = (layout: FlatLayout): MuonMatrix[] =>
  layout.params.flatMap(({ offset, shape }) => {
    const segment = layout.segment_ends.findIndex((end) => offset < end)
    const isOfBlock =
      segment >= layout.first_block && segment < layout.first_block + layout.numBlocks
    const [rows, columns] = shape
    return isOfBlock && shape.length === 2 ? [{ offset, rows, columns, segment }] : []
  })

/** What lies between the matrices of a layout, in elements, from chunk to chunk. */
export function besideMatrices(layout: FlatLayout): { start: number; end: number }[] {
  const firstOfBlocks = segmentStart(layout, layout.first_block)
  const lastOfBlocks = layout.segment_ends[layout.first_block + layout.numBlocks - 1]
  const between: { start: number; end: number }[] = []
  let start = 0
  for (const { offset, shape } of layout.placed) {
    if (shape.length === 1 || offset < firstOfBlocks || offset >= lastOfBlocks) continue
    if (start < offset) between.push({ start, end: offset })
    start = Math.ceil((offset + shape[0] * shape[1]) / CHUNK) * CHUNK
  }
  return start < layout.size ? [...between, { start, end: layout.size }] : between
}

/** Trained elements, from `start` of the layout on, that are bound at once: [count] each. */
export interface TrainedTensors {
  readonly start: number
  readonly count: number
  readonly weights: Tensor
  readonly gradients: Tensor
  readonly m: Tensor
  readonly v: Tensor
}

/** What an optimizer has of a step of Muon. */
export interface MuonStep {
  readonly stretches: readonly TrainedTensors[]
  readonly muon: MuonTensors
  readonly control: Tensor
  readonly partials: Tensor
  readonly lr_factors: Tensor
}

/** What Newton–Schulz steps keep: room for the largest matrix. */
export interface MuonTensors {
  readonly matmul: MatmulChoice | undefined
  readonly matrices: readonly MuonMatrix[]
  readonly direction: Tensor
  readonly moved: Tensor
  readonly gram: Tensor
  readonly square: Tensor
}

/** Allocates the room for matrices of these shapes. */
export function createMuonRoom(alloc: Allocator, matrices: readonly MuonMatrix[]) {
  const most = (of: (matrix: MuonMatrix) => number) => Math.max(1, ...matrices.map(of))
  const room = (label: string, count: number) =>
    alloc.tensor(`muon.${label}`, 'f32', [count], { kind: 'optimizer' })
  const elements = most(({ rows, columns }) => rows * columns)
  const products = most(({ rows, columns }) => Math.min(rows, columns) ** 2)
  return {
    direction: room('direction', elements),
    moved: room('moved', elements),
    gram: room('gram', products),
    square: room('square', products),
  }
}

/** The live values of Muon. A step of AdamW leaves them unread. */
export const MUON_LIVE = [
  'momentum',
  'nesterov',
  'ns_a',
  'ns_b',
  'ns_c',
  'ns_eps',
  'is_original',
] as const
export type MuonLive = (typeof MUON_LIVE)[number] | 'lr' | 'beta2' | 'weight_decay'

/** The settings of Muon that a program takes at each replay. */
export const muonLive = (muon: Muon): { readonly [K in (typeof MUON_LIVE)[number]]: number } => ({
  momentum: muon.momentum,
  nesterov: muon.nesterov ? 1 : 0,
  ns_a: muon.ns_coefficients.a,
  ns_b: muon.ns_coefficients.b,
  ns_c: muon.ns_coefficients.c,
  ns_eps: muon.eps,
  is_original: muon.adjust_lr_fn === 'original' ? 1 : 0,
})

/** The steps of the matrices that start before `end` and are not frozen. Runs after
 * grad_norm_finish, and writes over the partial sums that were its input. */
export function recordMuon(
  alloc: Allocator,
  r: Recorder<MuonLive>,
  t: MuonStep,
  {
    end,
    lr_factors,
    ns_steps,
  }: {
    readonly end: number
    readonly lr_factors: readonly number[] | undefined
    readonly ns_steps: number
  },
): void {
  for (const matrix of t.muon.matrices) {
    if (matrix.offset >= end || lr_factors?.[matrix.segment] === 0) continue
    const stretch = t.stretches.find(
      ({ start, count }) => matrix.offset >= start && matrix.offset < start + count,
    )
    if (stretch) recordMatrix(alloc, r, t, { matrix, stretch, ns_steps, hasRates: !!lr_factors })
  }
}

/** A matrix, and where it lies. */
interface Placed {
  readonly matrix: MuonMatrix
  readonly stretch: TrainedTensors
  readonly ns_steps: number
  readonly hasRates: boolean
}

function recordMatrix(
  alloc: Allocator,
  r: Recorder<MuonLive>,
  t: MuonStep,
  { matrix, stretch, ns_steps, hasRates }: Placed,
): void {
  const { rows, columns, segment } = matrix
  const count = rows * columns
  const at = { offset: matrix.offset - stretch.start, count }
  const { gradients, m, v, weights } = stretch
  const { control, partials, lr_factors } = t
  const view = (tensor: Tensor) => alloc.view(tensor, tensor.label, 0, [rows, columns])
  const [direction, moved] = [view(t.muon.direction), view(t.muon.moved)]
  const moments = {
    nesterov: (live: LiveValues<MuonLive>) => live.nesterov,
    momentum: (live: LiveValues<MuonLive>) => live.momentum,
    one_minus_momentum: (live: LiveValues<MuonLive>) => 1 - live.momentum,
    beta2: (live: LiveValues<MuonLive>) => live.beta2,
    one_minus_beta2: (live: LiveValues<MuonLive>) => 1 - live.beta2,
  }
  r.run(muon_direction, { ...at, ...moments }, { gradients, control, m, v, direction })
  r.run(grad_norm_partial, { count, first: 0, accumulate: 0 }, { gradients: direction, partials })
  r.run(muon_normalize, { count, eps: (live) => live.ns_eps }, { partials, x: direction })
  const orthogonal = recordNewtonSchulz(alloc, r, t.muon, [direction, moved], ns_steps)
  const ratio = (name: Muon['adjust_lr_fn']) => muonLrRatio(name, rows, columns)
  const step = {
    ...at,
    segment,
    lr: (live: LiveValues<MuonLive>) => live.lr,
    lr_ratio: ({ is_original }: LiveValues<MuonLive>) =>
      ratio(is_original ? 'original' : 'match_rms_adamw'),
    weight_decay: (live: LiveValues<MuonLive>) => live.weight_decay,
  }
  const tensors = { direction: orthogonal, control, weights }
  if (hasRates) r.run(muon_update_rates, step, { ...tensors, lr_factors })
  else r.run(muon_update, step, tensors)
}

/** x ← x (a I + b g + c g²) with g = xᵀ x, or the same from the left where x has fewer rows than
 * columns: the smaller of both grams. Returns which of the two ends as the result. */
function recordNewtonSchulz(
  alloc: Allocator,
  r: Recorder<MuonLive>,
  { matmul, ...room }: MuonTensors,
  [x, moved]: readonly [Tensor, Tensor],
  ns_steps: number,
): Tensor {
  const [rows, columns] = x.shape
  const isWide = rows <= columns
  const size = Math.min(rows, columns)
  const view = (tensor: Tensor) => alloc.view(tensor, tensor.label, 0, [size, size])
  const [gram, square] = [view(room.gram), view(room.square)]
  const run = (op: 'nn' | 'nt' | 'tn', product: MatmulSize, a: Tensor, b: Tensor, out: Tensor) =>
    r.run(matmulKernel(matmul, op, product), { ...product, accumulate: 0 }, { a, b, out })
  let [from, to] = [x, moved]
  for (let step = 0; step < ns_steps; step++) {
    run(isWide ? 'nt' : 'tn', { m: size, n: size, k: Math.max(rows, columns) }, from, from, gram)
    run('nn', { m: size, n: size, k: size }, gram, gram, square)
    const factors = {
      a: (live: LiveValues<MuonLive>) => live.ns_a,
      b: (live: LiveValues<MuonLive>) => live.ns_b,
      c: (live: LiveValues<MuonLive>) => live.ns_c,
    }
    r.run(muon_polynomial, { size, ...factors }, { gram, square })
    const product = { m: rows, n: columns, k: size }
    if (isWide) run('nn', product, square, from, to)
    else run('nn', product, from, square, to)
    ;[from, to] = [to, from]
  }
  return from
}
