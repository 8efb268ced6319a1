// out[r, f] = silu(gate[r, f]) * up[r, f], silu(g) = g * sigmoid(g). One invocation per element of
// out.
//   gate_up [R, 2F] (a row is gate, then up)   out [R, F]
// uses swiglu_sigmoid.wgsl

struct Params {
  rows: u32,
  intermediate_size: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gate_up: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

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
