// Computes the policy of every token from the sums that vocab_head_range left, after its last
// range. One invocation per entry of the list. Tokens with is_scored 0 give 0.
//   scored [S, 4]   running [B · R, 5]   log_probs, entropy, lse, sum_pi_squared [B, R]
// uses head_policy.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let entry = (group.x + group.y * grid.x) * 64u + lane;
  if (entry >= params.tokens) { return; }
  let token = scored[entry];
  var policy = Policy();
  if (token.w != 0u) {
    let at = token.y * 5u;
    policy = policy_of(running[at], running[at + 1u], running[at + 2u], running[at + 3u], running[at + 4u]);
  }
  log_probs[token.y] = policy.log_prob;
  entropy[token.y] = policy.entropy;
  lse[token.y] = policy.lse;
  sum_pi_squared[token.y] = policy.sum_pi_squared;
}
