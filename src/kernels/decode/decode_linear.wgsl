// out[m, n] = a b^T + addend[m * addend_stride + n] for rows that have not ended. One workgroup per
// 64 columns of out, and as many rows as its lanes have.
//   out [m, n]   a [m, k]   b [n, k]   ended [m]
//   addend [m, n], or [n] for every row when addend_stride is 0, or anything when has_addend is 0
// uses decode_tile.wgsl

const TILE_WIDTH = 64u;

fn width() -> u32 { return params.n; }

fn column(col: u32, i: u32) -> u32 { return min(col + i * 8u, params.n - 1u); }

fn before(row: u32, col: u32) -> vec4f {
  let i = row * params.addend_stride + col;
  return vec4f(addend[i], addend[i + 8u], addend[i + 16u], addend[i + 24u]);
}

fn store_one(row: u32, col: u32, value: f32) {
  if (col < params.n) { out[row * params.n + col] = value; }
}

fn store(row: u32, col: u32, left: vec4f, right: vec4f) {
  out[row * params.n + col] = left.x;
  store_one(row, col + 8u, left.y);
  store_one(row, col + 16u, left.z);
  store_one(row, col + 24u, left.w);
  store_one(row, col + 32u, right.x);
  store_one(row, col + 40u, right.y);
  store_one(row, col + 48u, right.z);
  store_one(row, col + 56u, right.w);
}
