// d_hidden[b·T + first_column + t, c] = d_values[b, t] · weight[c]. One invocation per element of a response token's row.
//   d_values [B, R]   weight [1, C]   d_hidden [B·T, C]
// uses value_head.wgsl

struct Params {
  rows: u32,
  width: u32,
  first_column: u32,
  response_length: u32,
  hidden_size: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> d_values: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_hidden: array<f32>;

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  let token = i / params.hidden_size;
  if (token >= params.rows * params.response_length) { return; }
  let c = i - token * params.hidden_size;
  d_hidden[hidden_start(token) + c] = d_values[token] * weight[c];
}
