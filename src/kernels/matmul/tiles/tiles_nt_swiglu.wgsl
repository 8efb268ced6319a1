// gate_up = a b^T and out[m, n] = silu(gate[m, n]) * up[m, n]: a linear layer and
// swiglu_forward.wgsl in one.
//   gate_up [m, 2n] (a row is gate, then up)   out [m, n]   a [m, k]   b [2n, k], k a multiple of 4
// The body is written out by tile_source.ts. uses swiglu_sigmoid.wgsl

fn put(row: u32, col: u32, gate: f32, up: f32) {
  let i = row * 2u * params.n + col;
  gate_up[i] = gate;
  gate_up[i + params.n] = up;
  out[row * params.n + col] = gate * sigmoid(gate) * up;
}
