// square ← a I + b gram + c square: what a Newton–Schulz step multiplies a matrix by.
//   gram, square [size, size]; square holds gram · gram before

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  if (i >= params.size * params.size) { return; }
  let diagonal = select(0.0, params.a, i / params.size == i % params.size);
  square[i] = diagonal + (params.b * gram[i] + params.c * square[i]);
}
