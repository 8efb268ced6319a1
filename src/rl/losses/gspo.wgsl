// Per row, over its unmasked tokens: s = mean(log_prob - old_log_prob), ρ = exp(min(s, 10));
//   L = max(-A ρ, -A clamp(ρ, 1 - low, 1 + high)) at each token.
//   dL/dlog_prob = -A ρ at each token, as if every token had
//   the ratio ρ · exp(log_prob - stop_gradient(log_prob)), and 0 where a clamp holds.
// One workgroup, a lane per row. uses policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  var values = vec4f();
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    var total = 0.0;
    var count = 0.0;
    for (var i = row * R; i < (row + 1u) * R; i++) {
      if (token_weights[i] != 0.0) {
        total += log_probs[i] - old_log_probs[i];
        count += 1.0;
      }
    }
    let mean = total / max(count, 1.0);
    let ratio = ratio_of(min(mean, 10.0));
    let clipped_ratio = clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);

    for (var i = row * R; i < (row + 1u) * R; i++) {
      let weight = token_weights[i];
      var d_log_prob = 0.0;
      if (weight != 0.0) {
        let advantage = advantages[i];
        let unclipped = -advantage * ratio;
        let clipped = -advantage * clipped_ratio;
        let is_clipped = clipped > unclipped;
        let kl = old_log_probs[i] - log_probs[i];
        values += vec4f(pg_weights[i] * max(unclipped, clipped), weight * vec3f(kl, select(0.0, 1.0, is_clipped), 0.0));
        let is_flat = is_clipped || mean > 10.0 || advantage == 0.0;
        if (!is_flat) { d_log_prob = pg_weights[i] * unclipped; }
      }
      d_log_probs[i] = d_log_prob;
    }
  }
  add_sums(lane, values);
}
