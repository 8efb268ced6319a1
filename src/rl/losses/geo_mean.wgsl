// Per token: x = log_prob - old_log_prob, c = clamp(x, -low, high), y = x unless A > 0 and x > c,
// or A < 0 and x < c: then c;
//   y = 0 where A = 0. Per row, means over unmasked tokens:
//   loss = -mean(A) exp(mean(y)) exp(mean(log(rollout_is_weight + 1e-10))) · sequence_scale; an
//   empty row adds 0. d_log_prob = loss / tokens of the row where y = x and A != 0, else 0.
// One workgroup, a lane per row. uses policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  var values = vec4f();
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    var total = vec3f(); // of A, y, log weight
    var count = 0.0;
    for (var i = row * R; i < (row + 1u) * R; i++) {
      let weight = token_weights[i];
      if (weight != 0.0) {
        let advantage = advantages[i];
        let x = log_probs[i] - old_log_probs[i];
        let c = clamp(x, -params.clip_ratio_low, params.clip_ratio_high);
        let y = select(select(x, c, is_held(x, c, advantage)), 0.0, advantage == 0.0);
        let is_weight = rollout_is_weights[i];
        total += vec3f(advantage, y, select(log(is_weight + 1e-10), 0.0, is_weight == 1.0));
        count += 1.0;
        let sides = vec2f(select(0.0, 1.0, advantage > 0.0), select(0.0, 1.0, advantage < 0.0));
        values += weight * vec4f(0.0, -x, select(vec2f(), sides, x != c));
      }
    }
    let mean = total / max(count, 1.0);
    let loss = 0.0 - params.sequence_scale * mean.x * ratio_of(mean.y) * ratio_of(mean.z);
    values.x += loss;

    for (var i = row * R; i < (row + 1u) * R; i++) {
      var d_log_prob = 0.0;
      if (token_weights[i] != 0.0) {
        let advantage = advantages[i];
        let x = log_probs[i] - old_log_probs[i];
        let c = clamp(x, -params.clip_ratio_low, params.clip_ratio_high);
        if (advantage != 0.0 && !is_held(x, c, advantage)) { d_log_prob = loss / count; }
      }
      d_log_probs[i] = d_log_prob;
    }
  }
  add_sums(lane, values);
}

/** Whether the clamped log ratio is the one that counts. */
fn is_held(x: f32, clamped: f32, advantage: f32) -> bool {
  return sign(advantage) * clamped < sign(advantage) * x;
}
