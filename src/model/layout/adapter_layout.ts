// Lays out what is trained beside a frozen base, in a flat layout of its own: the factors of a LoRA
// adapter, one segment per block, or steering vectors, one segment per layer.
import type { ModuleColumns } from '../../kernels/low_rank/low_rank.ts'
import { philox4x32, uniform24 } from '../../kernels/sampling/philox.ts'
import type { LoraConfig, ModelShape, SteeringConfig } from './config.ts'
import { type FlatLayout, FlatParams, matrix, type Slice, zeros } from './flat_params.ts'
import {
  factorNames,
  isAdapted,
  loraScale,
  modulePath,
  moduleSize,
  type TargetModule,
} from './lora.ts'

/** The matrix products of a block, with the modules whose rows each holds. */
export const PRODUCTS = {
  qkv_proj: ['q_proj', 'k_proj', 'v_proj'],
  o_proj: ['o_proj'],
  gate_up_proj: ['gate_proj', 'up_proj'],
  down_proj: ['down_proj'],
} as const satisfies Readonly<Record<string, readonly TargetModule[]>>
export type ProductName = keyof typeof PRODUCTS

/** The factors of the adapted modules of one product, stacked. */
export interface ProductFactors<T> {
  /** [modules · r, in] */
  readonly A: T
  /** [rows of the modules, r] */
  readonly B: T
  /** Columns of each module in the product's output. */
  readonly columns: readonly ModuleColumns[]
  /** Columns of the product's output, adapted or not. */
  readonly width: number
}

/** The adapted products of one block. */
export type BlockFactors<T> = { readonly [P in ProductName]?: ProductFactors<T> }

/** What is trained beside a frozen base. A segment may be empty. */
export interface AdapterLayout extends FlatLayout {
  readonly shape: ModelShape
  /** Of LoRA's factors; 0 of vectors. */
  readonly rank: number
  /** What B A x is multiplied by. */
  readonly scale: number
  /** Without padding. */
  readonly num_parameters: number
  /** A and B of every adapted module under PEFT's names. */
  readonly blocks: readonly BlockFactors<Slice>[]
  /** By layer, 0 to L: the vector that is added after it, [C]. */
  readonly vectors: readonly (Slice | undefined)[]
}

/** The layout of a LoRA adapter: it has no vectors. */
export interface LoraLayout extends AdapterLayout {
  readonly lora: LoraConfig
}

/** What the shape says is trained beside its base; undefined where that is nothing. Throws
 * RangeError where it changes nothing. */
export const ownAdapter = (shape: ModelShape): AdapterLayout | undefined =>
  shape.lora
    ? adapterLayout(shape, shape.lora)
    : shape.steering_vectors && steeringLayout(shape, shape.steering_vectors)

/** The parameter of a layer's vector, and its tensor in a file of vectors. */
export const vectorName = (layer: number): string => `steering.${layer}`

/** Lays out the vectors of that model: a segment for each layer, the embedding's first. Throws
 * RangeError where there is none. */
export function steeringLayout(shape: ModelShape, { layers }: SteeringConfig): AdapterLayout {
  const { hidden_size: C, num_hidden_layers: L } = shape
  const flat = new FlatParams()
  const vectors = Array.from({ length: L + 1 }, (_, layer) => {
    const has = layers ? layers.includes(layer) : layer > 0
    const vector = has ? flat.place(zeros(vectorName(layer), C)) : undefined
    flat.closeSegment()
    return vector
  })
  const { params, size, segment_ends, placed } = flat
  if (params.length === 0) throw new RangeError('steering: expected layers, got none')
  return {
    shape,
    params,
    size,
    segment_ends,
    placed,
    vectors,
    blocks: Array.from({ length: L }, () => ({})),
    rank: 0,
    scale: 1,
    num_parameters: params.length * C,
    first_block: 1,
    numBlocks: L,
  }
}

/** Lays out the factors of an adapter of that model. Throws RangeError where it changes nothing. */
export function adapterLayout(shape: ModelShape, lora: LoraConfig): LoraLayout {
  const flat = new FlatParams()
  const blocks = Array.from({ length: shape.num_hidden_layers }, (_, layer) => {
    const block = placeBlock(flat, shape, lora, layer)
    flat.closeSegment()
    return block
  })
  const { params, size, segment_ends, placed } = flat
  if (params.length === 0)
    throw new RangeError('lora: expected target_modules and layers_to_transform that name a module')
  return {
    shape,
    lora,
    params,
    size,
    segment_ends,
    placed,
    blocks,
    vectors: [],
    rank: lora.r,
    scale: loraScale(lora),
    num_parameters: params.reduce((n, param) => n + param.size, 0),
    first_block: 0,
    numBlocks: blocks.length,
  }
}

/** The vectors of that layout by layer, 0 to L; of a layer without one, zeros. */
export const vectorsByLayer = ({ shape, vectors }: AdapterLayout, flat: Float32Array) =>
  vectors.map((slice) =>
    slice
      ? flat.slice(slice.offset, slice.offset + shape.hidden_size)
      : new Float32Array(shape.hidden_size),
  )

function placeBlock(
  flat: FlatParams,
  shape: ModelShape,
  lora: LoraConfig,
  layer: number,
): BlockFactors<Slice> {
  const block: { [P in ProductName]?: ProductFactors<Slice> } = {}
  for (const product of Object.keys(PRODUCTS) as ProductName[]) {
    const modules: readonly TargetModule[] = PRODUCTS[product]
    const adapted = modules.filter((module) => isAdapted(lora, layer, module))
    if (adapted.length === 0) continue
    const factors = adapted.map((module) => factorsOf(shape, lora, layer, module))
    const firstOf = (module: TargetModule) =>
      rowsOf(shape, modules.slice(0, modules.indexOf(module)))
    block[product] = {
      A: flat.place(...factors.map(({ A }) => A)),
      B: flat.place(...factors.map(({ B }) => B)),
      columns: adapted.map((module) => ({
        first: firstOf(module),
        rows: moduleSize(shape, module)[0],
      })),
      width: rowsOf(shape, modules),
    }
  }
  return block
}

const rowsOf = (shape: ModelShape, modules: readonly TargetModule[]): number =>
  modules.reduce((rows, module) => rows + moduleSize(shape, module)[0], 0)

/** A starts uniform in ±1/√in, PEFT's kaiming_uniform_(a = √5), whose std is 1/√(3 in); B starts at
 * 0. */
function factorsOf(shape: ModelShape, { r }: LoraConfig, layer: number, module: TargetModule) {
  const [out, columns] = moduleSize(shape, module)
  const names = factorNames(`model.layers.${layer}.${modulePath(module)}`)
  const bare = (name: string) => name.replace(/\.weight$/, '')
  return {
    A: matrix(bare(names.A), r, columns, 1 / Math.sqrt(3 * columns)),
    B: matrix(bare(names.B), out, r, 0),
  }
}

/** Keeps initial factors apart from initial weights and sampling, which use the same generator and
 * seed. */
const ADAPTER_STREAM = 0xfffffffe

/** A fresh adapter in the flat layout: a function of (layout, seed) alone. With B = 0, and vectors
 * of 0, the model is its base. */
export function initialAdapter(layout: AdapterLayout, seed: number): Float32Array {
  const flat = new Float32Array(layout.size)
  layout.params.forEach(({ offset, size, init }, index) => {
    const bound = 'std' in init ? init.std * Math.sqrt(3) : 0
    for (let n = 0; n < size && bound > 0; n += 4) {
      const bits = philox4x32([n / 4, index, 0, 1], [seed, ADAPTER_STREAM])
      for (let i = 0; i < 4 && n + i < size; i++)
        flat[offset + n + i] = bound * (2 * uniform24(bits[i]) - 1)
    }
  })
  return flat
}

/** Named factors or vectors in the flat layout. Throws RangeError naming one that is missing or of
 * another size. */
export function packAdapter(
  { params, size }: AdapterLayout,
  factors: Readonly<Record<string, ArrayLike<number>>>,
): Float32Array {
  const flat = new Float32Array(size)
  for (const { name, offset, size: count } of params) {
    const values = factors[name]
    if (values?.length !== count)
      throw new RangeError(
        `adapter ${name}: expected ${count} values, got ${values?.length ?? 'none'}`,
      )
    flat.set(values, offset)
  }
  return flat
}
