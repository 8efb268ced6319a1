// Lists the names of the kernels that a matrix product may run on, apart from the kernels: settings
// name them without loading any.

/** In the order of MATMUL_VARIANTS (matmul_variants.ts). */
export const VARIANT_NAMES = [
  'register_8x8',
  'slices_16x32',
  'vector_8x8',
  'vector_8x8_by_4',
  'vector_8x4',
  'vector_4x4',
  'vector_4x4_by_4',
  'slices_32x32',
  'slices_16x16',
  'skinny_8x16',
  'staged_32x32_4x4',
  'staged_64x64_8x8',
  'staged_128x64_8x4',
  'staged_128x64_8x8',
  'staged_128x128_8x8',
  'staged_128x128_16x8',
  'staged_32x32_4x4_by_4',
  'staged_16x16_4x4_by_16',
  'subgroups_16x16',
  'subgroups_8x16',
  'matrices_f16',
  'matrices_f32',
] as const

export type VariantName = (typeof VARIANT_NAMES)[number]
