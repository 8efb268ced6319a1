// d = log_prob - old_log_prob;  L = -(A · log_prob - dro_beta/2 · d²).
// dL/dlog_prob = -(A - dro_beta · d), also where A is 0.
// One workgroup strides over tokens. uses policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var values = vec4f();
  let tokens = params.rows * params.response_length;
  for (var i = lane; i < tokens; i += WORKGROUP_SIZE) {
    let weight = token_weights[i];
    var d_log_prob = 0.0;
    if (weight != 0.0) {
      let advantage = advantages[i];
      let d = log_probs[i] - old_log_probs[i];
      let loss = 0.5 * params.dro_beta * d * d - advantage * log_probs[i];
      values += vec4f(pg_weights[i] * loss, -weight * d, 0.0, 0.0);
      d_log_prob = pg_weights[i] * (params.dro_beta * d - advantage);
    }
    d_log_probs[i] = d_log_prob;
  }
  add_sums(lane, values);
}
