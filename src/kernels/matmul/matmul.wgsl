// out[m, n] = A B, or out += A B when accumulate is 1. One workgroup per 64 x 64 tile of out.
//   out [m, n]   a [m, k] or, transposed, [k, m]   b [k, n] or, transposed, [n, k]
// uses matmul_tile.wgsl

fn adds() -> bool { return params.accumulate == 1u; }

fn before(row: u32, col: u32) -> f32 { return out[row * params.n + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
