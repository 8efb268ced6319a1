// L = -A · log_prob.  dL/dlog_prob = -A.  No old policy, no metrics.
// uses policy_loss_token.wgsl, policy_loss_frame.wgsl

fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  return TokenLoss(-advantage * log_prob, -advantage, vec3f());
}
