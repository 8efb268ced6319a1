// Lists the kernels that a matrix product may run on, and which of them one does.
import {
  type AnyKernel,
  type Binding,
  type Feature,
  foldGrid,
  type Names,
  withElements,
} from '../device/base/kernel.ts'
import { matmul_nn, matmul_nt, matmul_nt_add, matmul_tn } from './matmul.ts'
import { MATRIX_VARIANTS } from './matrix_variants.ts'
import type { MatrixUnit } from './tiles/matrix_source.ts'
import type { MatmulOp, Pipeline, Tile } from './tiles/tile.ts'
import { headOf } from './tiles/tile_heads.ts'
import { tileSource } from './tiles/tile_source.ts'
import { VARIANT_NAMES, type VariantName } from './variant_names.ts'

/** out[m, n], summed over k. */
export interface MatmulSize {
  readonly m: number
  readonly n: number
  readonly k: number
}

export interface MatmulProduct extends MatmulSize {
  readonly op: MatmulOp
}

/** Params m, n, k and accumulate; for nt_add addend_stride in place of accumulate, and the
 * addend. */
export type MatmulKernel<Op extends MatmulOp = MatmulOp> = Op extends 'nt_add'
  ? typeof matmul_nt_add
  : typeof matmul_nn

export interface MatmulVariant {
  /** Stable: choices name it. */
  readonly name: string
  /** Rows and columns of out that a workgroup makes. */
  readonly tile: readonly [number, number]
  /** True for kernels without barriers; software adapters pay more for each barrier than such a
   * kernel can gain. */
  readonly suitsSoftware: boolean
  /** What the device must have; Gpu refuses to compile a variant whose features it lacks. */
  readonly requires: readonly Feature[]
  /** How the kernels are written out; absent where they are not. */
  readonly tiling?: Tile
  /** What multiplies; absent where lanes do. */
  readonly unit?: MatrixUnit
  /** What a factor is rounded by at most, as a share of it; absent where factors are taken as they
   * are. */
  readonly rounding?: number
  readonly supports: (op: MatmulOp, size: MatmulSize) => boolean
  readonly kernel: <Op extends MatmulOp>(op: Op) => MatmulKernel<Op>
}

/** The variant of every shape class that differs from the default, by name; '*' stands for all
 * other classes. Plain JSON. */
export interface MatmulChoice {
  readonly [shapes: string]: string
}

export const MATMUL_OPS: readonly MatmulOp[] = ['nn', 'nt', 'tn', 'nt_add']
const plain = { nn: matmul_nn, nt: matmul_nt, tn: matmul_tn, nt_add: matmul_nt_add }

/** [down, across, rows, cols, slices, stage] of a Tile. */
type Sizes = readonly [number, number, number, number, number, number]

// Names say what a workgroup makes. vector_: registers of one lane, read in vectors; slices_: tile,
// k shared among lanes; skinny_: a few rows, k shared among 16 lanes; staged_: tile, and results of
// one lane, by way of workgroup memory, _by_4 and _by_16 with k shared by as many (of vector_, in
// four passes of one lane); subgroups_: slices_ and skinny_ of that tile, with the lanes' parts
// summed by subgroups. (matrices_ are in matrix_variants.ts.)
const SIZES: Readonly<Partial<Record<VariantName, Sizes>>> = {
  slices_16x32: [2, 4, 8, 8, 4, 0],
  vector_8x8: [8, 1, 8, 8, 1, 0],
  vector_8x8_by_4: [2, 4, 8, 8, 1, 0],
  vector_8x4: [8, 8, 8, 4, 1, 0],
  vector_4x4: [8, 8, 4, 4, 1, 0],
  vector_4x4_by_4: [8, 8, 4, 4, 1, 0],
  slices_32x32: [8, 8, 4, 4, 4, 0],
  slices_16x16: [4, 4, 4, 4, 16, 0],
  skinny_8x16: [1, 4, 8, 4, 16, 0],
  staged_32x32_4x4: [8, 8, 4, 4, 1, 16],
  staged_64x64_8x8: [8, 8, 8, 8, 1, 16],
  staged_128x64_8x4: [16, 16, 8, 4, 1, 16],
  staged_128x64_8x8: [16, 8, 8, 8, 1, 8],
  staged_128x128_8x8: [16, 16, 8, 8, 1, 16],
  staged_128x128_16x8: [8, 16, 16, 8, 1, 8],
  staged_32x32_4x4_by_4: [8, 8, 4, 4, 4, 16],
  staged_16x16_4x4_by_16: [4, 4, 4, 4, 16, 8],
  subgroups_16x16: [4, 4, 4, 4, 16, 0],
  subgroups_8x16: [1, 4, 8, 4, 16, 0],
}

/** What an H100 ran fastest of each of these tiles (docs/log/performance.md). */
const PIPELINES: Readonly<Partial<Record<VariantName, Pipeline>>> = {
  staged_64x64_8x8: { buffers: 1, unrolled: true },
  staged_128x64_8x4: { buffers: 1, byRows: true },
  staged_128x64_8x8: { buffers: 2, unrolled: true, byRows: true },
  staged_128x128_8x8: { buffers: 1, unrolled: true, byRows: true },
  staged_128x128_16x8: { buffers: 2, unrolled: true, byRows: true },
}

/** The tiles of the variants that tiles/tile_source.ts writes out. */
export const TILES: Readonly<Record<string, Tile>> = Object.fromEntries(
  VARIANT_NAMES.flatMap((name): [string, Tile][] => {
    const sizes = SIZES[name]
    if (!sizes) return []
    const [down, across, rows, cols, slices, stage] = sizes
    const subgroups = name.startsWith('subgroups_')
    const pipeline = PIPELINES[name]
    const more = /^vector_.*_by_4$/.test(name) ? { passes: 4 } : pipeline ? { pipeline } : {}
    return [[name, { down, across, rows, cols, slices, stage, subgroups, ...more }]]
  }),
)

/** These are for a weight's gradient alone: a long k, and a result of few tiles. The first three
 * give the same bits. */
const OF_TN: readonly string[] = [
  'slices_16x32',
  'vector_8x8_by_4',
  'vector_4x4_by_4',
  'staged_16x16_4x4_by_16',
]

/** What is read in vectors of four has whole ones. */
const hasVectors = (op: MatmulOp, { m, n, k }: MatmulSize, { stage }: Tile): boolean =>
  (op === 'tn' ? m : k) % 4 === 0 && ((!stage && op.startsWith('nt')) || n % 4 === 0)

/** The variant that makes its results in these tiles. */
export function tileVariant(name: string, tile: Tile): MatmulVariant {
  const { down, across, rows, cols, slices, stage, subgroups = false } = tile
  const requires = subgroups ? (['subgroups'] as const) : []
  const made = new Map<MatmulOp, AnyKernel>()
  const make = (op: MatmulOp) => ({
    ...plain[op],
    name: `matmul_${op}_${name}`,
    wgsl: tileSource(op, tile),
    bindings: withElements<Names<Binding>>(plain[op].bindings, headOf(op, tile).elements),
    constants: {},
    requires,
    ...(!subgroups && (stage > 0 || rows * cols > 16) && { manyRegisters: true as const }),
    workgroups: ({ m, n }: { m: number; n: number }) =>
      foldGrid(Math.ceil(m / (down * rows)) * Math.ceil(n / (across * cols))),
  })
  return {
    name,
    tile: [down * rows, across * cols],
    suitsSoftware: slices === 1 && stage === 0,
    requires,
    tiling: tile,
    supports: (op, size) => hasVectors(op, size, tile) && (op === 'tn' || !OF_TN.includes(name)),
    kernel: (op) => {
      if (!made.has(op)) made.set(op, make(op) as unknown as AnyKernel)
      return made.get(op) as never
    },
  }
}

/** Every variant, first the plain one. What a variant supports depends on the shape alone. */
export const MATMUL_VARIANTS: readonly MatmulVariant[] = [
  {
    name: 'register_8x8',
    tile: [64, 64],
    suitsSoftware: true,
    requires: [],
    supports: () => true,
    kernel: (op) => plain[op] as never,
  },
  ...Object.entries(TILES).map(([name, tile]) => tileVariant(name, tile)),
  ...MATRIX_VARIANTS,
]

const byName = new Map(MATMUL_VARIANTS.map((variant) => [variant.name, variant]))

/** Throws RangeError where no variant has this name. */
export function matmulVariant(name: string, where = 'matmul'): MatmulVariant {
  const variant = byName.get(name)
  if (!variant)
    throw new RangeError(
      `${where}: there is no matmul variant ${JSON.stringify(name)}; expected one of ${[...byName.keys()].join(', ')}`,
    )
  return variant
}

/** What the variant requires and is not among `features`. Throws RangeError where no variant has
 * this name. */
export const missingFeatures = (name: string, features: readonly string[]): readonly Feature[] =>
  matmulVariant(name).requires.filter((feature) => !features.includes(feature))

/** With fewer rows than this the vectors of vector_8x8 are mostly idle (8 × 192 × 64 on
 * SwiftShader: half the speed). */
const MIN_VECTOR_ROWS = 9

/** Widths up to which a layer is narrow. */
const NARROW_WIDTH = 32
const NARROW_WEIGHTS = 4096

/** Whether a layer, of `inputs` and `outputs`, is so narrow that a run on a software adapter takes
 * longer to compile the kernels of large tiles than to run them. The head of a wider model is not:
 * it takes the kernel that the model has anyway. */
export const isNarrowLayer = (outputs: number, inputs: number): boolean =>
  inputs * outputs <= NARROW_WEIGHTS &&
  (inputs <= NARROW_WIDTH || (outputs <= NARROW_WIDTH && outputs % 4 === 0))

const isNarrow = (op: MatmulOp, { m, n, k }: MatmulSize): boolean =>
  op === 'tn' ? isNarrowLayer(m, n) : op === 'nn' ? isNarrowLayer(k, n) : isNarrowLayer(n, k)

/** The variant of narrow layers: the bits of vector_8x8, in a fifth of the time to compile
 * (SwiftShader in Chromium: 0.25 s for a kernel, where vector_8x8 takes 1.4). */
export const SOON_COMPILED = 'vector_4x4'

/** Up to this many elements of a weight's gradient, k is summed in four parts: more digits stay,
 * and lanes may share it. */
const MAX_SPLIT_SIZE = 512 * 512

/** What a product runs on unless a choice says otherwise. Narrow layers have the bits of the
 * others. */
export function defaultVariant(op: MatmulOp, size: MatmulSize): MatmulVariant {
  const isSplit = op === 'tn' && size.m * size.n <= MAX_SPLIT_SIZE
  const tile = isNarrow(op, size) ? SOON_COMPILED : 'vector_8x8'
  const vector = matmulVariant(isSplit ? `${tile}_by_4` : tile)
  const isVector = (op === 'tn' || size.m >= MIN_VECTOR_ROWS) && vector.supports(op, size)
  return isVector ? vector : matmulVariant('register_8x8')
}

const bucket = (count: number): number => 2 ** Math.ceil(Math.log2(count))

/** The class of a product, e.g. nt_m4096_n192_k64: widths of the layer as they are, the count of
 * tokens (k for tn, else m) rounded up to a power of two. */
export function shapeClass(op: MatmulOp, { m, n, k }: MatmulSize): string {
  const [rows, depth] = op === 'tn' ? [m, bucket(k)] : [bucket(m), k]
  return `${op}_m${rows}_n${n}_k${depth}`
}

/** What a choice names for a product; undefined where it leaves the default. Throws RangeError for
 * the name of no variant. */
export function namedVariant(
  choice: MatmulChoice | undefined,
  op: MatmulOp,
  size: MatmulSize,
): MatmulVariant | undefined {
  const shapes = shapeClass(op, size)
  const name = choice?.[shapes] ?? choice?.['*']
  return name === undefined ? undefined : matmulVariant(name, shapes)
}

/** What a product runs on: the chosen variant of its class, else of the class '*', which is every
 * class; the default where the choice has neither or the variant does not support the size. Throws
 * RangeError for the name of no variant. */
export function chosenVariant(
  choice: MatmulChoice | undefined,
  op: MatmulOp,
  size: MatmulSize,
): MatmulVariant {
  const variant = namedVariant(choice, op, size)
  return variant?.supports(op, size) ? variant : defaultVariant(op, size)
}

/** The choice without variants that round factors: for weights that learn, whose small steps a
 * rounded product would not see. Throws RangeError for the name of no variant. */
export const exactChoice = (choice: MatmulChoice = {}): MatmulChoice =>
  Object.fromEntries(
    Object.entries(choice).filter(([shapes, name]) => !matmulVariant(name, shapes).rounding),
  )

/** The kernel of the chosen variant. Throws RangeError for the name of no variant. */
export const matmulKernel = <Op extends MatmulOp>(
  choice: MatmulChoice | undefined,
  op: Op,
  size: MatmulSize,
): MatmulKernel<Op> => chosenVariant(choice, op, size).kernel(op)

/** Every kernel once. */
export const variants: readonly AnyKernel[] = MATMUL_VARIANTS.flatMap((variant) =>
  MATMUL_OPS.filter((op) => variant.supports(op, { m: 64, n: 64, k: 64 })).map(
    (op) => variant.kernel(op) as unknown as AnyKernel,
  ),
)
