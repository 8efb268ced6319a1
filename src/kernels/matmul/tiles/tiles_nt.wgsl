// out[m, n] = a b^T, or out += a b^T when accumulate is 1.
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4
// The body is written out by tile_source.ts.

fn adds() -> bool { return params.accumulate == 1u; }

fn before(row: u32, col: u32) -> f32 { return out[row * params.n + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
