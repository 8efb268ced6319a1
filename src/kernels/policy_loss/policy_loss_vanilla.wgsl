// x = clamp(log_prob - old_log_prob, ±20), r = exp(x), M = max(-A r, -A clamp(r, 1 - low, 1 + high));
//   L = min(-A · clip_ratio_c, M) where A < 0, else M.  dL/dlog_prob = -A r where nothing is clamped, else 0.
// uses policy_loss_token.wgsl, policy_loss_frame.wgsl

fn token_loss(log_prob: f32, old_log_prob: f32, advantage: f32) -> TokenLoss {
  let log_ratio = log_prob - old_log_prob;
  let x = clamp(log_ratio, -20.0, 20.0);
  let ratio = ratio_of(x);
  let unclipped = -advantage * ratio;
  let clipped = -advantage * clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
  let larger = max(unclipped, clipped);
  let bound = -advantage * params.clip_ratio_c;
  let is_clipped = clipped > unclipped;
  let is_clipped_lower = advantage < 0.0 && larger > bound;
  let is_flat = is_clipped || is_clipped_lower || abs(log_ratio) > 20.0;
  return TokenLoss(
    select(larger, bound, is_clipped_lower),
    select(unclipped, 0.0, is_flat),
    vec3f(-x, select(0.0, 1.0, is_clipped), select(0.0, 1.0, is_clipped_lower)),
  );
}
