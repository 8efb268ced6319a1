// partials[b] = Σ gradients², over every 256th run of 256 elements from the b-th on. One workgroup per block; each lane
// adds its elements in order, then lanes are added as a tree.
//   gradients [≥ count]   partials [OPTIMIZER_BLOCKS]
// uses workgroup_reduce.wgsl

struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradients: array<f32>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  var lane_sum = 0.0;
  for (var i = group.x * WORKGROUP_SIZE + lane; i < params.count; i += grid.x * WORKGROUP_SIZE) {
    lane_sum += gradients[i] * gradients[i];
  }
  let total = workgroup_sum(lane, lane_sum);
  if (lane == 0u) { partials[group.x] = total; }
}
