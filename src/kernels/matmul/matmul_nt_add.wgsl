// out[m, n] = a b^T + addend[m * addend_stride + n]. One workgroup per 64 x 64 tile of out.
//   out [m, n]   a [m, k]   b [n, k]   addend [m, n], or [n] for every row when addend_stride is 0
// uses matmul_tile.wgsl

fn adds() -> bool { return true; }

fn before(row: u32, col: u32) -> f32 { return addend[row * params.addend_stride + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
