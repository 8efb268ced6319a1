// x = clamp(log_prob - old_log_prob, ±20), r = exp(x), c = clamp(r, 1 - low, 1 + high), a constant to the gradient;
//   L = -c A · log_prob.  dL/dlog_prob = -c A.
// uses policy_loss_token.wgsl, policy_loss_frame.wgsl

fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let x = clamp(log_prob - old_log_prob, -20.0, 20.0);
  let ratio = ratio_of(x);
  let clipped = clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
  let slope = -clipped * advantage;
  return TokenLoss(slope * log_prob, slope, vec3f(-x, select(0.0, 1.0, ratio != clipped), 0.0));
}
