// loss = Σ loss_weights · kld, d_log_probs += kl_loss_coef · loss_weights · slope, with d =
// log_prob - ref_log_prob:
//   0: kld = d, slope 1   1: |d|, sign(d)   2: d²/2, d
//   3: min(e^q - q - 1, 10), q = clamp(-d, ±20), slope 1 - e^q, 0 where held
// straight_through: slope = d. One workgroup strides over tokens. Tokens of weight 0 are not looked
// at.
//   log_probs, ref_log_prob, loss_weights, kld, d_log_probs [tokens]
//   sums [6], the last is added to
// uses k3.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

const KL_LOSS_SUM = 5u;

// (value, slope) of the estimate at d.
fn estimate(d: f32) -> vec2f {
  switch params.estimator {
    case 0u: { return vec2f(d, 1.0); }
    case 1u: { return vec2f(abs(d), sign(d)); }
    case 2u: { return vec2f(0.5 * d * d, d); }
    default: {
      let q = clamp(-d, -20.0, 20.0);
      let value = k3(q);
      let is_held = abs(d) > 20.0 || value > 10.0;
      return vec2f(min(value, 10.0), select(-(value + q), 0.0, is_held));
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var loss = 0.0;
  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    let weight = loss_weights[i];
    var value = 0.0;
    if (weight != 0.0) {
      let d = log_probs[i] - ref_log_prob[i];
      let at = estimate(d);
      value = at.x;
      loss += weight * value;
      d_log_probs[i] += params.kl_loss_coef * weight * select(at.y, d, params.straight_through != 0u);
    }
    kld[i] = value;
  }
  let total = workgroup_sum(lane, loss);
  if (lane == 0u) { sums[KL_LOSS_SUM] += total; }
}
