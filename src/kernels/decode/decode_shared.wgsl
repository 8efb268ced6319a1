// out[m, n] = a b^T + addend[m * addend_stride + n] for rows that have not ended, with k shared
// among lanes: decode_linear for a few rows, where whole tiles for every lane would leave a device
// idle. Or in smaller tiles, for narrow layers.
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4   ended [m]
//   addend [m, n], or [n] for every row when addend_stride is 0, or anything when has_addend is 0
// The body is written out by matmul/tiles/tile_source.ts.

// Whether TILE_ROWS rows from `row` on have all ended: those of the tile, the same for all of its
// lanes, or those of one lane.
fn has_ended(row: u32) -> bool {
  var live = 0u;
  for (var i = row; i < min(row + TILE_ROWS, params.m); i++) { live += 1u - ended[i]; }
  return live == 0u;
}

fn adds() -> bool { return params.has_addend == 1u; }

fn before(row: u32, col: u32) -> f32 { return addend[row * params.addend_stride + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
