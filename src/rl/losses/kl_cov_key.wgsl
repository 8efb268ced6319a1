// Computes the keys by which kl_cov chooses its tokens: their covariances, kept in d_log_probs.
// uses choose.wgsl, policy_loss_frame.wgsl

/** A u32 that orders as the covariance does, 0 where masked; -0 counts as 0. */
fn key_of(i: u32) -> u32 {
  if (token_weights[i] == 0.0) { return 0u; }
  let cov = d_log_probs[i];
  let bits = bitcast<u32>(select(cov, 0.0, cov == 0.0));
  return max(select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u), 1u);
}

/** Computes the covariances of a lane's tokens. */
fn prepare(range: vec2u, mean: vec2f) {
  for (var i = range.x; i < range.y; i++) {
    if (token_weights[i] != 0.0) { d_log_probs[i] = covariance(i, mean); }
  }
}
