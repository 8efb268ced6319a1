// out[r, first + c] = part[r, c]: the logits of one range of the vocabulary into their places in
// rows of all of it. One lane per element of part.
//   part [rows, cols]   out [rows, V]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  if (index >= params.rows * params.cols) { return; }
  out[index / params.cols * params.vocab_size + params.first_id + index % params.cols] = part[index];
}
