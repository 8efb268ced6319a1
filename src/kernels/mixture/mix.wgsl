// to ← alpha · from + (1 - alpha) · to, element by element.
//   from_values, to_values [≥ count]

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  if (i >= params.count) { return; }
  to_values[i] = params.alpha * from_values[i] + params.rest * to_values[i];
}
