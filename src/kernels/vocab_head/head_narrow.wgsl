// Holds what the narrow vocabulary head kernels share; QUADS = C / 4.

/** head_gradient.wgsl for one logit: d z_j = d_log_prob · (1[j = y] - p_j) - d_entropy · p_j (log
 * p_j + H). Only for tokens with a gradient: a masked one has lse 0, and exp(z) may overflow. */
fn d_logit(z: f32, is_label: bool, lse: f32, entropy: f32, d_log_prob: f32, d_entropy: f32) -> f32 {
  let log_p = z - lse;
  let p = exp(log_p);
  return d_log_prob * (select(0.0, 1.0, is_label) - p) - d_entropy * p * (log_p + entropy);
}
