// Puts a given token in the place of the one that a row just sampled: forced[row, position] - 1
// where that is not 0. One invocation per row; rows without one stay as they are.
//   forced, response_ids, rollout_log_probs, rollout_entropy [rows, response_length]
//   ended, next_ids [rows]
//   attention_mask [rows, width]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = (group.x + group.y * grid.x) * 64u + lane;
  if (row >= params.rows) { return; }
  let at = row * params.response_length + params.position;
  if (forced[at] == 0u) { return; }
  let token = forced[at] - 1u;
  response_ids[at] = token;
  rollout_log_probs[at] = 0.0;
  rollout_entropy[at] = 0.0;
  next_ids[row] = token;
  attention_mask[row * params.width + params.column] = 1u;
  ended[row] = 0u;
}
