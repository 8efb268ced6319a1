// out = x, of which every word holds two bfloat16: exact. One invocation per pair.
//   x [2 · words], the even one in the low half   out [2 · words]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i >= params.words) { return; }
  let two = x[i];
  out[i] = vec2u(two << 16u, two & 0xffff0000u);
}
