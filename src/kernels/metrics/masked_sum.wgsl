// sums[s] = Σ values[s, i] · mask[i]. One workgroup per set; lanes stride over its values.
//   values [sets, count]   mask [count]   sums [sets]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let base = group.x * params.count;
  var lane_sum = 0.0;
  for (var i = lane; i < params.count; i += WORKGROUP_SIZE) {
    if (mask[i] != 0.0) { lane_sum += values[base + i] * mask[i]; }
  }
  let total = workgroup_sum(lane, lane_sum);
  if (lane == 0u) { sums[group.x] = total; }
}
