// out[r, f] = silu(gate[r, f]) * up[r, f], silu(g) = g * sigmoid(g). One invocation per element of
// out.
//   gate_up [R, 2F] (a row is gate, then up)   out [R, F]
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
  out[i] = gate * sigmoid(gate) * gate_up[gate_at + width];
}
