// x ← x / max(‖x‖, eps), where ‖x‖² is the sum of the partials. Every workgroup adds them up for
// itself, in the same order.
//   partials [OPTIMIZER_BLOCKS]   x [≥ count]
// uses workgroup_reduce.wgsl; OPTIMIZER_BLOCKS comes from muon.ts

override WORKGROUP_SIZE: u32 = 256;
const ELEMENTS = 16u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  var lane_sum = 0.0;
  for (var b = lane; b < OPTIMIZER_BLOCKS; b += WORKGROUP_SIZE) { lane_sum += partials[b]; }
  let norm = max(sqrt(workgroup_sum(lane, lane_sum)), params.eps);
  let first = (group.x + group.y * grid.x) * WORKGROUP_SIZE * ELEMENTS + lane;
  for (var e = 0u; e < ELEMENTS; e++) {
    let i = first + e * WORKGROUP_SIZE;
    if (i < params.count) { x[i] = x[i] / norm; }
  }
}
