// out[m, n] = a b^T + addend[m * addend_stride + n], in vectors of four columns.
//   out [m, n]   a [m, k]
//   b [n, k], addend [m, n], or [n] for every row when addend_stride is 0; n and k
//   multiples of 4
// The body is written out by staged_source.ts.

fn adds() -> bool { return true; }

fn before(row: u32, vector: u32) -> vec4f { return addend[row * (params.addend_stride / 4u) + vector]; }

fn put(row: u32, vector: u32, value: vec4f) { out[row * (params.n / 4u) + vector] = value; }
