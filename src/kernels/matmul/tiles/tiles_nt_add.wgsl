// out[m, n] = a b^T + addend[m * addend_stride + n].
//   out [m, n]   a [m, k]   b [n, k], k a multiple of 4
//   addend [m, n], or [n] for every row when addend_stride is 0
// The body is written out by tile_source.ts.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  addend_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read> addend: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

fn adds() -> bool { return true; }

fn before(row: u32, col: u32) -> f32 { return addend[row * params.addend_stride + col]; }

fn put(row: u32, col: u32, value: f32) { out[row * params.n + col] = value; }
