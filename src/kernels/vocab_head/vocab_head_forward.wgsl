// z = hidden · weightᵀ · inv_temperature;  lse = log Σ exp z;  log_prob = z[y] - lse;
// entropy = lse - Σ softmax(z) z;
// sum_pi_squared = Σ softmax(z)².
// One workgroup per 16 tokens of the list walks over the vocabulary with running sums. Tokens with
// is_scored 0 give 0.
//   hidden [states, C]   weight [V, C]   scored [S, 4]
//   log_probs, entropy, lse, sum_pi_squared [B, R]
// uses head_softmax.wgsl, head_policy.wgsl, head_tile.wgsl, head_hidden.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first + lane / 16u * 4u;
  let state = softmax_over_range(lane, first, tokens_of(mine, 0u));
  if (lane % 16u == 0u) {
    for (var k = 0u; k < 4u; k++) {
      if (mine + k >= params.tokens) { break; }
      let token = scored[mine + k];
      var policy = Policy();
      if (token.w != 0u) {
        policy = policy_of(state.top[k], state.sum[k], state.moment[k], state.squares[k], state.label[k]);
      }
      log_probs[token.y] = policy.log_prob;
      entropy[token.y] = policy.entropy;
      lse[token.y] = policy.lse;
      sum_pi_squared[token.y] = policy.sum_pi_squared;
    }
  }
}
