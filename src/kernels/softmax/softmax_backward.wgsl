// d_logits[r, :] = probs[r, :] (d_probs[r, :] - sum(d_probs[r, :] probs[r, :])). One workgroup per
// row; lanes stride over its columns.
//   probs [R, V]   d_probs [R, V]   d_logits [R, V]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = group.x + group.y * grid.x;
  // The grid's overhang works on the last row and stores nothing.
  let base = min(row, params.rows - 1u) * params.cols;

  var lane_sum = 0.0;
  for (var c = lane; c < params.cols; c += WORKGROUP_SIZE) {
    lane_sum += probs[base + c] * d_probs[base + c];
  }
  let row_sum = workgroup_sum(lane, lane_sum);

  if (row < params.rows) {
    for (var c = lane; c < params.cols; c += WORKGROUP_SIZE) {
      d_logits[base + c] = probs[base + c] * (d_probs[base + c] - row_sum);
    }
  }
}
