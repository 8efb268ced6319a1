// out = silu(gate) * up with gate and up the halves of a b^T, for rows that have not ended: no [m, 2 n] is stored. One
// workgroup per 64 x 32 tile of out; a lane holds four columns of gate and the same four of up.
//   out [m, n]   a [m, k]   b [2 n, k] (gate, then up)   ended [m]
// uses decode_tile.wgsl, swiglu_sigmoid.wgsl

struct Params {
  m: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read> ended: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

const TILE_WIDTH = 32u;

fn width() -> u32 { return params.n; }

fn column(col: u32, i: u32) -> u32 { return min(col + i % 4u * 8u, params.n - 1u) + i / 4u * params.n; }

fn store_one(row: u32, col: u32, gate: f32, up: f32) {
  if (col < params.n) { out[row * params.n + col] = gate * sigmoid(gate) * up; }
}

fn store(row: u32, col: u32, gate: vec4f, up: vec4f) {
  store_one(row, col, gate.x, up.x);
  store_one(row, col + 8u, gate.y, up.y);
  store_one(row, col + 16u, gate.z, up.z);
  store_one(row, col + 24u, gate.w, up.w);
}
