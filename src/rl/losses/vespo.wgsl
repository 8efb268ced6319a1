// Per row, over its unmasked tokens: q = Σ clamp(log_prob - old_log_prob, ±20)
//   + Σ clamp(log(rollout_is_weight), log 1e-8, 20), held within [log 1e-8, 20], a constant;
//   φ = exp(λ + k q - λ e^q), with k and λ by the sign of A;
//   L = -φ A · log_prob at each token.  dL/dlog_prob = -φ A.
// One workgroup, a lane per row. uses policy_loss_frame.wgsl

const LEAST_LOG: f32 = -18.420681; // log 1e-8
const MOST_LOG: f32 = 20.0;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  var values = vec4f();
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    var log_ratio = 0.0;
    for (var i = row * R; i < (row + 1u) * R; i++) {
      if (token_weights[i] != 0.0) {
        let is_weight = rollout_is_weights[i];
        let log_weight = clamp(log(max(is_weight, 1e-8)), LEAST_LOG, MOST_LOG);
        log_ratio += clamp(log_probs[i] - old_log_probs[i], -MOST_LOG, MOST_LOG);
        log_ratio += select(log_weight, 0.0, is_weight == 1.0);
      }
    }
    let q = clamp(log_ratio, LEAST_LOG, MOST_LOG);
    let tilt = ratio_of(q) - 1.0;
    let weight_pos = ratio_of(params.vespo_k_pos * q - params.vespo_lambda_pos * tilt);
    let weight_neg = ratio_of(params.vespo_k_neg * q - params.vespo_lambda_neg * tilt);

    for (var i = row * R; i < (row + 1u) * R; i++) {
      var d_log_prob = 0.0;
      if (token_weights[i] != 0.0) {
        let advantage = advantages[i];
        let slope = -advantage * select(weight_neg, weight_pos, advantage >= 0.0);
        values += vec4f(pg_weights[i] * slope * log_probs[i], token_weights[i] * (old_log_probs[i] - log_probs[i]), 0.0, 0.0);
        if (advantage != 0.0) { d_log_prob = pg_weights[i] * slope; }
      }
      d_log_probs[i] = d_log_prob;
    }
  }
  add_sums(lane, values);
}
