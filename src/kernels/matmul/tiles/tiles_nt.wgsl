// out[m, n] = a b^T, or out += a b^T when accumulate is 1.
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4
// The body is written out by matmul_tiles.ts.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  accumulate: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn store(row: u32, col: u32, value: f32) {
  if (row >= params.m || col >= params.n) { return; }
  let i = row * params.n + col;
  if (params.accumulate == 1u) { out[i] += value; } else { out[i] = value; }
}
