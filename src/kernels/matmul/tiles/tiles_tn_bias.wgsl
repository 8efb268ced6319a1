// out[m, n] += A^T B and bias[m] += sum over k of A[k, m]: the gradients of a linear layer's weight
// and bias.
//   out [m, n]   bias [m]   a [k, m]   b [k, n], m and n multiples of 4
// The body is written out by tile_source.ts or staged_source.ts; the workgroups of the first
// columns of out sum the bias.

struct Params {
  m: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> bias: array<vec4f>;

fn adds() -> bool { return true; }

fn before(row: u32, vector: u32) -> vec4f { return out[row * (params.n / 4u) + vector]; }

fn put(row: u32, vector: u32, value: vec4f) { out[row * (params.n / 4u) + vector] = value; }

fn store_bias(vector: u32, value: vec4f) {
  if (vector < params.m / 4u) { bias[vector] += value; }
}
