// out = silu(gate) * up with gate and up the halves of a b^T, for rows that have not ended: no [m,
// 2 n] is stored. One workgroup per 32 columns of out, and as many rows as its lanes have; a lane
// holds four columns of gate and the same four of up.
//   out [m, n]   a [m, k]   b [2 n, k] (gate, then up)   ended [m]
// uses decode_tile.wgsl, swiglu_sigmoid.wgsl

const TILE_WIDTH = 32u;

fn width() -> u32 { return params.n; }

fn column(col: u32, i: u32) -> u32 { return min(col + i % 4u * 8u, params.n - 1u) + i / 4u * params.n; }

fn store_one(row: u32, col: u32, gate: f32, up: f32) {
  if (col < params.n) { out[row * params.n + col] = gate * sigmoid(gate) * up; }
}

fn store(row: u32, col: u32, gate: vec4f, up: vec4f) {
  out[row * params.n + col] = gate.x * sigmoid(gate.x) * up.x;
  store_one(row, col + 8u, gate.y, up.y);
  store_one(row, col + 16u, gate.z, up.z);
  store_one(row, col + 24u, gate.w, up.w);
}
