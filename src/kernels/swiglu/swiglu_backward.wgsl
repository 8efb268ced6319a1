// Computes the gradient of out = silu(gate) * up. One invocation per element of out.
//   d_up = d_out * silu(gate)   d_gate = d_out * up * s * (1 + gate * (1 - s)), s = sigmoid(gate)
//   gate_up [R, 2F] (a row is gate, then up)   d_out [R, F]   d_gate_up [R, 2F]
// uses swiglu_sigmoid.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  let width = params.intermediate_size;
  if (i >= params.rows * width) { return; }
  let gate_at = i / width * 2u * width + i % width;
  let gate = gate_up[gate_at];
  let s = sigmoid(gate);
  d_gate_up[gate_at] = d_out[i] * gate_up[gate_at + width] * s * (1.0 + gate * (1.0 - s));
  d_gate_up[gate_at + width] = d_out[i] * gate * s;
}
