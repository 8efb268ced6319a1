// d_gate_up, the gradient of out = silu(gate) * up for d_out = A B: an input's gradient and
// swiglu_backward.wgsl in one.
//   d_gate_up, gate_up [m, 2n] (a row is gate, then up)   a [m, k]   b [k, n]
//   d_out [m, n] is nowhere; n and k
//   multiples of 4
// The body is written out by tile_source.ts or staged_source.ts. uses swiglu_sigmoid.wgsl

// Of one vector: what they are, or their gradients.
struct Gates {
  gate: vec4f,
  up: vec4f,
}

fn before(row: u32, vector: u32) -> Gates {
  let width = params.n / 4u;
  let at = row * 2u * width + vector;
  return Gates(gate_up[at], gate_up[at + width]);
}

fn joined(d_out: vec4f, gates: Gates) -> Gates {
  let gate = gates.gate;
  let s = vec4f(sigmoid(gate.x), sigmoid(gate.y), sigmoid(gate.z), sigmoid(gate.w));
  return Gates(d_out * gates.up * s * (1.0 + gate * (1.0 - s)), d_out * gate * s);
}

fn put(row: u32, vector: u32, gradient: Gates) {
  let width = params.n / 4u;
  let at = row * 2u * width + vector;
  d_gate_up[at] = gradient.gate;
  d_gate_up[at + width] = gradient.up;
}
