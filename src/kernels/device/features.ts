// Names the features of adapters beyond WebGPU's core, as kernels ask for them.
import type { Feature } from './base/kernel.ts'

/** WGSL's subgroup matrices, in Chrome behind a flag for experiments (gpuweb/gpuweb,
 * proposals/subgroup-matrix.md). */
const MATRICES = 'chromium-experimental-subgroup-matrix'

/** Blocks that an adapter multiplies: [M, K] · [K, N], in words of the draft. */
interface MatrixConfig {
  readonly componentType: string
  readonly resultComponentType: string
  readonly M: number
  readonly N: number
  readonly K: number
}

/** The blocks of a feature: the type of the factors; rows, columns and depth. Sums are float32. */
export const MATRIX_BLOCKS = {
  'subgroup-matrix-f16': ['f16', 16],
  'subgroup-matrix-f32': ['f32', 8],
} as const

/** What `openAdapter` asks a device for where the adapter has it. */
export const OPTIONAL_FEATURES: readonly GPUFeatureName[] = [
  'subgroups',
  'shader-f16',
  MATRICES as GPUFeatureName,
  'subgroup-size-control' as GPUFeatureName,
]

/** Of 16 lanes, which Dawn asks for on Intel, each has 64 registers; of 8 lanes 128
 * (docs/log/gpu.md). */
export const INTEL_LANES = 8

/** Lanes of the subgroups that kernels with `manyRegisters` ask for; undefined where they take what
 * comes. */
export const narrowLanes = (
  { features }: Pick<GPUDevice, 'features'>,
  {
    vendor,
    subgroupMinSize = 4,
    subgroupMaxSize = 128,
  }: Pick<GPUAdapterInfo, 'vendor' | 'subgroupMinSize' | 'subgroupMaxSize'>,
): number | undefined =>
  vendor === 'intel' &&
  features.has('subgroup-size-control') &&
  subgroupMinSize <= INTEL_LANES &&
  INTEL_LANES <= subgroupMaxSize
    ? INTEL_LANES
    : undefined

/** The blocks that an adapter lists, e.g. 'f16 16x8x16 to f32' for [16, 16] · [16, 8]; none where
 * WebGPU shows none. */
export function matrixBlocks(info: GPUAdapterInfo): string[] {
  return configsOf(info).map(
    ({ componentType, resultComponentType, M, N, K }) =>
      `${componentType} ${M}x${N}x${K} to ${resultComponentType}`,
  )
}

const configsOf = (info: GPUAdapterInfo): readonly MatrixConfig[] =>
  (info as { subgroupMatrixConfigs?: readonly MatrixConfig[] }).subgroupMatrixConfigs ?? []

/** The features of a device that kernels may ask for. `info` is its adapter's: Dawn in Node names
 * no blocks in `device.adapterInfo`. */
export function kernelFeatures(
  device: Pick<GPUDevice, 'features'>,
  info: GPUAdapterInfo,
): Feature[] {
  const has = (feature: string) => device.features.has(feature)
  const plain = (['subgroups', 'shader-f16'] as const).filter(has)
  if (!has(MATRICES) || !has('subgroups')) return plain
  const matrices = Object.entries(MATRIX_BLOCKS).filter(
    ([, [type, size]]) =>
      (type !== 'f16' || has('shader-f16')) &&
      configsOf(info).some(
        ({ componentType, resultComponentType, M, N, K }) =>
          componentType === type &&
          resultComponentType === 'f32' &&
          [M, N, K].every((length) => length === size),
      ),
  )
  return [...plain, ...matrices.map(([feature]) => feature as keyof typeof MATRIX_BLOCKS)]
}
