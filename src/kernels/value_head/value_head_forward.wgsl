// values[b, t] = hidden[b·T + first_column + t, :] · weight + bias; 0 where response_mask is 0.
// Rows of at most NARROW columns: one invocation per token. Wider rows: one workgroup per token, lanes stride over columns.
//   hidden [B·T, C]   weight [1, C]   bias [1]   response_mask, values [B, R]
// uses value_head.wgsl, workgroup_reduce.wgsl

struct Params {
  rows: u32,
  width: u32,
  first_column: u32,
  response_length: u32,
  hidden_size: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> response_mask: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;

override WORKGROUP_SIZE: u32 = 64;
override NARROW: u32;

fn dot_with_weight(token: u32, first: u32, stride: u32) -> f32 {
  let start = hidden_start(token);
  var sum = 0.0;
  for (var c = first; c < params.hidden_size; c += stride) { sum += hidden[start + c] * weight[c]; }
  return sum;
}

fn store(token: u32, sum: f32) {
  if (token >= params.rows * params.response_length) { return; }
  values[token] = select(0.0, sum + bias[0], response_mask[token] != 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.x + group.y * grid.x;
  let last = params.rows * params.response_length - 1u; // stands in for tokens past the end, which are not stored
  if (params.hidden_size <= NARROW) {
    let token = index * WORKGROUP_SIZE + lane;
    store(token, dot_with_weight(min(token, last), 0u, 1u));
  } else {
    let sum = workgroup_sum(lane, dot_with_weight(min(index, last), lane, WORKGROUP_SIZE));
    if (lane == 0u) { store(index, sum); }
  }
}
