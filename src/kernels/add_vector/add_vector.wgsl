// state[r, c] += vector[c]. One invocation per element.
//   vector [C]   state [R, C]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i >= params.rows * params.cols) { return; }
  state[i] += vector[i % params.cols];
}
