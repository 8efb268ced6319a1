// loss = Σ pg_weight · L,
// d_log_prob = pg_weight · dL/dlog_prob, for losses that look at one token at a time.
// The loss supplies `token_loss`; policy_loss_frame.wgsl the interface. One workgroup strides over
// tokens: loss, gradient and metrics in one dispatch and a fixed order. Masked tokens (token_weight
// 0) are not looked at.

struct TokenLoss {
  loss: f32,
  slope: f32, // dL / dlog_prob
  metrics: vec3f, // what it adds to ppo_kl, pg_clipfrac, pg_clipfrac_lower
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var values = vec4f();
  let tokens = params.rows * params.response_length;
  for (var i = lane; i < tokens; i += WORKGROUP_SIZE) {
    let weight = token_weights[i];
    var d_log_prob = 0.0;
    if (weight != 0.0) {
      let advantage = advantages[i];
      let t = token_loss(log_probs[i], old_log_probs[i], advantage);
      values += vec4f(pg_weights[i] * t.loss, weight * t.metrics);
      if (advantage != 0.0) { d_log_prob = pg_weights[i] * t.slope; }
    }
    d_log_probs[i] = d_log_prob;
  }
  add_sums(lane, values);
}
