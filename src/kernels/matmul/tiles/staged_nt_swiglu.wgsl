// gate_up = a b^T and out[m, n] = silu(gate[m, n]) * up[m, n]: a linear layer and
// swiglu_forward.wgsl in one. A vector of results has two columns of gate and the same two of up.
//   gate_up [m, 2n] (a row is gate, then up)   out [m, n]   a [m, k]
//   b [2n, k]; n and k multiples of 4
// The body is written out by staged_source.ts. uses swiglu_sigmoid.wgsl

fn put(row: u32, pair: u32, value: vec4f) {
  let width = params.n / 2u;
  let gate = value.xy;
  let up = value.zw;
  gate_up[row * params.n + pair] = gate;
  gate_up[row * params.n + width + pair] = up;
  out[row * width + pair] = gate * vec2f(sigmoid(gate.x), sigmoid(gate.y)) * up;
}
