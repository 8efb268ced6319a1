// out[m, n] = a b^T, or out += a b^T when accumulate is 1.
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4
// The body is written out by tile_source.ts.

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

fn adds() -> bool { return params.accumulate == 1u; }

fn before(row: u32, col: u32) -> f32 { return out[row * params.n + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
