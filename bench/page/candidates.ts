// Lists staged products that a large GPU may run faster than those it has: tiles, buffers and
// orders. Nothing but the bench runs them until one is measured to win.
import { type MatmulVariant, tileVariant } from '../../src/kernels/matmul/matmul_variants.ts'
import type { Pipeline, Tile } from '../../src/kernels/matmul/tiles/tile.ts'

/** [lanes down, lanes across, rows and columns of a lane, k of a stage] and how it goes through its
 * stages. */
type Candidate = readonly [number, number, number, number, number, Pipeline]

const one = { buffers: 1, fma: true } as const
const rows = { ...one, byRows: true } as const
const two = { ...rows, buffers: 2 } as const
const unrolled = true

/** Names say the tile, the results of a lane and the stage; then what is unlike the plain staged
 * product: mul_add without fma, x2 two buffers, u the steps written out, rows copied by rows,
 * band the order of tiles. Neighbours differ in one thing where that can be. */
const CANDIDATES_BY_NAME: Readonly<Record<string, Candidate>> = {
  try_64x64_8x8_s16_mul_add: [8, 8, 8, 8, 16, { buffers: 1 }],
  try_64x64_8x8_s16: [8, 8, 8, 8, 16, one],
  try_64x64_8x8_s16_u: [8, 8, 8, 8, 16, { ...one, unrolled }],
  try_64x64_8x8_s8_x2_rows_u: [8, 8, 8, 8, 8, { ...two, unrolled }],
  try_64x64_4x4_s8_x2_rows_u: [16, 16, 4, 4, 8, { ...two, unrolled }],
  try_128x64_8x4_s16_rows: [16, 16, 8, 4, 16, rows],
  try_128x64_8x4_s8_x2_rows_u: [16, 16, 8, 4, 8, { ...two, unrolled }],
  try_128x64_8x8_s8_x2_rows_u: [16, 8, 8, 8, 8, { ...two, unrolled }],
  try_128x128_8x8_s8_rows_u: [16, 16, 8, 8, 8, { ...rows, unrolled }],
  try_128x128_8x8_s8_x2_rows: [16, 16, 8, 8, 8, two],
  try_128x128_8x8_s8_x2_rows_u: [16, 16, 8, 8, 8, { ...two, unrolled }],
  try_128x128_8x8_s8_x2_rows_u_band8: [16, 16, 8, 8, 8, { ...two, unrolled, band: 8 }],
  try_128x128_8x8_s16_rows_u: [16, 16, 8, 8, 16, { ...rows, unrolled }],
  try_128x128_16x8_s8_x2_rows_u: [8, 16, 16, 8, 8, { ...two, unrolled }],
  try_256x128_16x8_s8_rows_u: [16, 16, 16, 8, 8, { ...rows, unrolled }],
}

const tileOf = ([down, across, rows, cols, stage, pipeline]: Candidate): Tile => ({
  down,
  across,
  rows,
  cols,
  slices: 1,
  stage,
  pipeline,
})

export const CANDIDATES: readonly MatmulVariant[] = Object.entries(CANDIDATES_BY_NAME).map(
  ([name, candidate]) => tileVariant(name, tileOf(candidate)),
)
