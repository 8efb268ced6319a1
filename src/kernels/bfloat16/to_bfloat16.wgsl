// out = x rounded to bfloat16, to nearest, ties to even: the upper half of a float32's bits. One
// invocation per pair.
//   x [2 · words]   out [2 · words], two to a word, the even one in the low half

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i >= params.words) { return; }
  let bits = x[i];
  let rounded = (bits + vec2u(0x7fffu) + ((bits >> vec2u(16u)) & vec2u(1u))) >> vec2u(16u);
  // A NaN stays one, whatever its lower half is.
  let is_nan = (bits & vec2u(0x7fffffffu)) > vec2u(0x7f800000u);
  let halves = select(rounded, (bits >> vec2u(16u)) | vec2u(0x40u), is_nan);
  out[i] = halves.x | (halves.y << 16u);
}
