// L = -A · log_prob (times the rollout weight, in pg_weight).  dL/dlog_prob = -A.  The old policy is only for ppo_kl.
// uses policy_loss_token.wgsl, policy_loss_frame.wgsl

fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  return TokenLoss(-advantage * log_prob, -advantage, vec3f(old_log_prob - log_prob, 0.0, 0.0));
}
