// Marks the tokens that clip_cov or kl_cov chose: d_log_probs[i] = 1 where it did, else 0. Adds to
// no sums. One workgroup. uses the loss's key, choose.wgsl, policy_loss_frame.wgsl

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let range = tokens_of(lane);
  let mean = means(lane);
  prepare(range, mean);

  var choice = choose(lane);
  for (var i = range.x; i < range.y; i++) {
    let chosen = is_chosen(i, &choice);
    d_log_probs[i] = select(0.0, 1.0, chosen);
  }
}
