// Computes the keys by which clip_cov draws its tokens: candidates, marked in d_log_probs, and a
// random number for each.
// uses choose.wgsl, policy_loss_frame.wgsl

/** MurmurHash3's finalizer: u32 to u32, one to one, every input bit changes about half of the
 * output bits. */
fn mixed(x: u32) -> u32 {
  var h = x;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}

/** A random number from the token's index and the seed; different tokens have different ones, but
 * for 0, which becomes 1. */
fn key_of(i: u32) -> u32 {
  if (d_log_probs[i] == 0.0) { return 0u; }
  return max(mixed(mixed(i) ^ mixed(params.seed ^ 0x9e3779b9u)), 1u);
}

struct Losses {
  x: f32,
  unclipped: f32,
  clipped: f32,
}

fn losses_of(i: u32) -> Losses {
  let x = log_probs[i] - old_log_probs[i];
  let ratio = ratio_of(min(x, 80.0)); // beyond, f32 ends
  let kept = clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
  return Losses(x, -advantages[i] * ratio, -advantages[i] * kept);
}

/** Marks the candidates among a lane's tokens. */
fn prepare(range: vec2u, mean: vec2f) {
  for (var i = range.x; i < range.y; i++) {
    var is_candidate = false;
    if (token_weights[i] != 0.0) {
      let l = losses_of(i);
      let cov = covariance(i, mean);
      is_candidate = l.clipped <= l.unclipped && cov > params.clip_cov_lb && cov < params.clip_cov_ub;
    }
    d_log_probs[i] = select(0.0, 1.0, is_candidate);
  }
}
