// Per row, over its tokens of mask 1: old_log_prob = log_prob - mean(log_prob - old_log_prob), so
// that every token has the log ratio of the row.
// One workgroup, a lane per row.
//   log_probs, response_mask, old_log_probs [rows, R]

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    var total = 0.0;
    var count = 0.0;
    for (var i = row * R; i < (row + 1u) * R; i++) {
      if (response_mask[i] != 0.0) {
        total += log_probs[i] - old_log_probs[i];
        count += 1.0;
      }
    }
    let mean = total / max(count, 1.0);
    for (var i = row * R; i < (row + 1u) * R; i++) {
      if (response_mask[i] != 0.0) { old_log_probs[i] = log_probs[i] - mean; }
    }
  }
}
