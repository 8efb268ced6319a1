// out[m, n] = a b^T + addend[m * addend_stride + n].
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4
//   addend [m, n], or [n] for every row when addend_stride is 0
// The body is written out by tile_source.ts.

fn adds() -> bool { return true; }

fn before(row: u32, col: u32) -> f32 { return addend[row * params.addend_stride + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
