// out[m, n] = A B, or out += A B when accumulate is 1, in vectors of four columns.
//   out [m, n]   a [m, k] or, transposed, [k, m]
//   b [k, n] or, transposed, [n, k]; what is read or written in vectors is a
//   multiple of 4
// The body is written out by tile_source.ts or staged_source.ts.

fn adds() -> bool { return params.accumulate == 1u; }

fn before(row: u32, vector: u32) -> vec4f { return out[row * (params.n / 4u) + vector]; }

fn put(row: u32, vector: u32, value: vec4f) { out[row * (params.n / 4u) + vector] = value; }
