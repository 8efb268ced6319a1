// x = log_prob - old_log_prob, r = exp(x);  L = corr · max(-A r, -A clamp(r, 1 - low, 1 + high)),  dL/dlog_prob = -corr A r where
//   the first is the larger, else 0. corr = 0 at select_count random candidates, else 1; a candidate is a token that is not
//   clipped already and whose covariance (A - mean A)(log_prob - mean log_prob) lies between clip_cov_lb and clip_cov_ub.
// One workgroup. d_log_probs holds the candidates (1, else 0) until the gradients are written.
// uses policy_loss_cov.wgsl, policy_loss_frame.wgsl

/** MurmurHash3's finalizer: u32 to u32, one to one, every input bit changes about half of the output bits. */
fn mixed(x: u32) -> u32 {
  var h = x;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}

/** A random number from the token's index and the seed; different tokens have different ones, but for 0, which becomes 1. */
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let range = tokens_of(lane);
  let mean = means(lane);
  for (var i = range.x; i < range.y; i++) {
    var is_candidate = false;
    if (token_weights[i] != 0.0) {
      let l = losses_of(i);
      let cov = covariance(i, mean);
      is_candidate = l.clipped <= l.unclipped && cov > params.clip_cov_lb && cov < params.clip_cov_ub;
    }
    d_log_probs[i] = select(0.0, 1.0, is_candidate);
  }

  var choice = choose(lane);
  var values = vec4f();
  for (var i = range.x; i < range.y; i++) {
    let dropped = is_chosen(i, &choice);
    let weight = token_weights[i];
    var d_log_prob = 0.0;
    if (weight != 0.0) {
      let l = losses_of(i);
      let loss = select(max(l.unclipped, l.clipped), 0.0, dropped);
      values += vec4f(pg_weights[i] * loss, weight * vec3f(-l.x, select(0.0, 1.0, dropped), 0.0));
      let is_flat = dropped || l.clipped > l.unclipped || advantages[i] == 0.0;
      if (!is_flat) { d_log_prob = pg_weights[i] * l.unclipped; }
    }
    d_log_probs[i] = d_log_prob;
  }
  add_sums(lane, values);
}
