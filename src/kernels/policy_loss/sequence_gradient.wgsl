// Per row, over its tokens of mask 1: d_log_prob = mean(d_log_prob), the gradient through the ratio
// of the row; other tokens have 0.
// One workgroup, a lane per row.
//   response_mask, d_log_probs [rows, R]

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    var total = 0.0;
    var count = 0.0;
    for (var i = row * R; i < (row + 1u) * R; i++) {
      if (response_mask[i] != 0.0) {
        total += d_log_probs[i];
        count += 1.0;
      }
    }
    let mean = total / max(count, 1.0);
    for (var i = row * R; i < (row + 1u) * R; i++) {
      d_log_probs[i] = select(0.0, mean, response_mask[i] != 0.0);
    }
  }
}
