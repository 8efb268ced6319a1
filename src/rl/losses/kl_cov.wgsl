// x = log_prob - old_log_prob;
// L = -A exp(x), and + ppo_kl_coef |x| at the select_count tokens with the largest covariance
//   (A - mean A)(log_prob - mean log_prob).
//   dL/dlog_prob = -A exp(x), and + ppo_kl_coef sign(x) there.
// One workgroup. d_log_probs holds the covariances until the gradients are written.
// uses kl_cov_key.wgsl, choose.wgsl, policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let range = tokens_of(lane);
  let mean = means(lane);
  prepare(range, mean);

  var choice = choose(lane);
  var values = vec4f();
  for (var i = range.x; i < range.y; i++) {
    let penalty = select(0.0, params.ppo_kl_coef, is_chosen(i, &choice));
    let weight = token_weights[i];
    var d_log_prob = 0.0;
    if (weight != 0.0) {
      let x = log_probs[i] - old_log_probs[i];
      let unclipped = 0.0 - advantages[i] * ratio_of(min(x, 80.0)); // beyond, f32 ends
      values += vec4f(pg_weights[i] * (unclipped + penalty * abs(x)), weight * abs(x), 0.0, 0.0);
      d_log_prob = pg_weights[i] * (unclipped + penalty * sign(x));
    }
    d_log_probs[i] = d_log_prob;
  }
  add_sums(lane, values);
}
