// out[m, n] += A^T B and bias[m] += sum over k of A[k, m]: the gradients of a linear layer's weight
// and bias.
//   out [m, n]   bias [m]   a [k, m]   b [k, n], m and n multiples of 4
// The body is written out by tile_source.ts or staged_source.ts; the workgroups of the first
// columns of out sum the bias.

fn adds() -> bool { return true; }

fn before(row: u32, vector: u32) -> vec4f { return out[row * (params.n / 4u) + vector]; }

fn put(row: u32, vector: u32, value: vec4f) { out[row * (params.n / 4u) + vector] = value; }

fn store_bias(vector: u32, value: vec4f) {
  if (vector < params.m / 4u) { bias[vector] += value; }
}
