// p = softmax(hidden_p · weightᵀ), q = softmax(hidden_q · weightᵀ), token by token, and 0 where
// mask is 0:
//   kl_pq = Σ p (log p - log q)   kl_qp = Σ q (log q - log p)
// One workgroup per 8 tokens walks over the vocabulary with running sums.
//   hidden_p, hidden_q [tokens, C]   weight [V, C]   mask, kl_pq, kl_qp [tokens]
// uses policy_kl_pairs.wgsl, policy_kl_divergence.wgsl, head_tile.wgsl,
// workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first / 2u + lane / 16u * 2u;
  let is_real = real_tokens(mine);
  let state = pairs_over_range(lane, first, is_real);
  if (lane % 16u == 0u) {
    let kl = divergence(state.sum, state.moment);
    for (var k = 0u; k < 2u; k++) {
      if (mine + k >= params.tokens) { break; }
      let both = select(vec2f(), select(kl.xy, kl.zw, k == 1u), is_real[k]);
      kl_pq[mine + k] = both.x;
      kl_qp[mine + k] = both.y;
    }
  }
}
