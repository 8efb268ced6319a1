// x = log_prob - old_log_prob, r = exp(x);  L = corr · max(-A r, -A clamp(r, 1 - low, 1 + high)),
// dL/dlog_prob = -corr A r where
//   the first is the larger, else 0. corr = 0 at select_count random candidates, else 1; a
//   candidate is a token that is not
//   clipped already and whose covariance (A - mean A)(log_prob - mean log_prob) lies between
//   clip_cov_lb and clip_cov_ub. One workgroup. d_log_probs holds the candidates (1, else 0) until
//   the gradients are written.
// uses clip_cov_key.wgsl, choose.wgsl, policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let range = tokens_of(lane);
  let mean = means(lane);
  prepare(range, mean);

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
