// out[c] += sum over r of x[r, c] for few rows. One invocation per column adds its rows in order,
// without barriers.
//   x [R, C]   out [C]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let c = (group.x + group.y * grid.x) * 64u + lane;
  if (c >= params.cols) { return; }
  var sum = 0.0;
  for (var r = 0u; r < params.rows; r++) { sum += x[r * params.cols + c]; }
  out[c] += sum;
}
