// Writes out the body of a matrix product for a tile. WGSL has no arrays that surely stay in
// registers, so every register has a name and every multiplication its own statement.
import { range } from './lines.ts'
import { stagedSource } from './staged_source.ts'
import {
  type Factor,
  type FusedOp,
  type MatmulOp,
  type Register,
  resultType,
  stored,
  type Tile,
  unit,
} from './tile.ts'
import { HEADS, type Head } from './tile_heads.ts'
import { declared, directLoop } from './tile_loop.ts'
import { storeBias, storeFunction, storeResults, storesLast } from './tile_store.ts'
import { peerSource } from './tile_subgroups.ts'

/** What surrounds the body of a product. */
export interface TileFrame {
  readonly head: Head
  /** WGSL condition, the same for all lanes: nothing of the tile from row a_first on is needed. */
  readonly isIdle: string
}

/** The WGSL of a product with k, and where rows or columns are read in vectors these too, multiples
 * of 4. */
export function tileSource(
  op: MatmulOp | FusedOp,
  tile: Tile,
  { head, isIdle }: TileFrame = { head: HEADS[op], isIdle: 'a_first >= params.m' },
): string {
  if (tile.stage) return stagedSource(op, tile)
  const { down, across, rows, cols } = tile
  const a: Factor = {
    name: 'a',
    lane: 'y',
    lanes: down,
    count: rows,
    size: down * rows,
    alongK: !op.startsWith('tn'),
    interleaved: false,
  }
  const b: Factor = {
    name: 'b',
    lane: 'x',
    lanes: across,
    count: cols,
    size: across * cols,
    alongK: op.startsWith('nt'),
    interleaved: true,
    inHalves: op === 'nt_swiglu',
  }
  const enable = tile.subgroups ? 'enable subgroups;\n' : ''
  const limit = `params.n${unit(b) === 4 ? ' / 4u' : ''}`
  const store = storesLast(tile) ? storeFunction(head, resultType(b), limit) : ''
  const body = main(tile, a, b, { head, isIdle }, op === 'tn_bias')
  return enable + head.wgsl + store + memory(tile, a, b) + body
}

function memory({ down, across, slices, subgroups }: Tile, a: Factor, b: Factor): string {
  if (subgroups) return peerSource(resultType(b), down * across * slices, slices)
  const sums = (slices * a.size * b.size) / unit(b)
  return slices > 1 ? `var<workgroup> slice_sums: array<${resultType(b)}, ${sums}>;\n` : ''
}

function main(
  tile: Tile,
  a: Factor,
  b: Factor,
  { head, isIdle }: TileFrame,
  hasBias: boolean,
): string {
  const { down, across, slices, subgroups = false } = tile
  const cols = b.count / unit(b)
  const reach = stored(b, b.size)
  // Neighbouring lanes read neighbours: along k if slices share it and b lies so, else along the
  // columns.
  const [x, y, slice] =
    b.alongK || subgroups
      ? [`lane / ${slices}u % ${across}u`, `lane / ${slices * across}u`, `lane % ${slices}u`]
      : [`lane % ${across}u`, `lane / ${across}u % ${down}u`, `lane / ${across * down}u`]
  const registers: Register[] = [
    ...range(a.count * cols).map((i) => ({
      name: `c${Math.floor(i / cols)}_${i % cols}`,
      type: resultType(b),
    })),
    ...range(hasBias ? a.count / 4 : 0).map((i) => ({ name: `bias${i}`, type: 'vec4f' as const })),
  ]
  return `
@compute @workgroup_size(${down * across * slices})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,${subgroups ? '\n  @builtin(subgroup_size) subgroup_size: u32,' : ''}
) {
let m4 = params.m / 4u;
let n4 = params.n / 4u;
let k4 = params.k / 4u;
let tile = group.x + group.y * grid.x;
let tiles_across = (params.n + ${reach - 1}u) / ${reach}u;
let a_first = tile / tiles_across * ${a.size}u;
let b_first = tile % tiles_across * ${reach}u;
if (${isIdle}) { return; }
let x = ${x};
let y = ${y};
let slice = ${slices > 1 ? slice : '0u'};
${declared(tile, registers)}
${directLoop(tile, a, b, registers, hasBias)}
${storeResults(tile, a, b, head)}
${hasBias ? storeBias(tile, a) : ''}
}
`
}
