// x = clamp(log_prob - old_log_prob, ±20), r = exp(x), τ = tau_pos where A > 0, else tau_neg, σ = sigmoid(τ (r - 1));
//   L = -A σ · 4/τ.  dL/dlog_prob = -4 A σ (1 - σ) r, and 0 where x is clamped.
// uses policy_loss_token.wgsl, policy_loss_frame.wgsl

fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let log_ratio = log_prob - old_log_prob;
  let x = clamp(log_ratio, -20.0, 20.0);
  let ratio = ratio_of(x);
  let tau = select(params.tau_neg, params.tau_pos, advantage > 0.0);
  let z = tau * (ratio - 1.0);
  // With e = exp(-|z|) neither tail of the sigmoid overflows or cancels; below exp(-80) nothing is left in f32.
  let e = ratio_of(-min(abs(z), 80.0));
  let gate = select(e, 1.0, z >= 0.0) / (1.0 + e);
  let slope = -4.0 * advantage * (e / ((1.0 + e) * (1.0 + e))) * ratio;
  return TokenLoss(
    -advantage * gate * 4.0 / tau,
    select(slope, 0.0, abs(log_ratio) > 20.0),
    vec3f(-x, 0.0, 0.0),
  );
}
