// Computes policy_kl over one range of the vocabulary: the sums so far, joined with those of this
// range. One workgroup per 8 tokens. The first range (first_id 0) starts the sums.
//   hidden_p, hidden_q [tokens, C]   weight [rows of the range, C]   mask [tokens]
//   running [tokens, 6]: top, sum and moment of p and of q
// uses policy_kl_pairs.wgsl, head_tile.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
const SUMS = 6u;

/** The sums of the ranges before this one, of tokens mine and mine + 1. */
fn sums_before(mine: u32) -> Pairs {
  var state = no_pairs();
  for (var i = 0u; i < 4u; i++) { // p and q of both
    if (mine + i / 2u >= params.tokens || params.first_id == 0u) { break; }
    let at = (mine + i / 2u) * SUMS + i % 2u;
    state.top[i] = running[at];
    state.sum[i] = running[at + 2u];
    state.moment[i] = running[at + 4u];
  }
  return state;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.x + group.y * grid.x) * NARROW;
  let mine = first / 2u + lane / 16u * 2u;
  let range = pairs_over_range(lane, first, real_tokens(mine));
  if (lane % 16u == 0u) {
    let state = joined(sums_before(mine), range);
    for (var i = 0u; i < 4u; i++) {
      if (mine + i / 2u >= params.tokens) { break; }
      let at = (mine + i / 2u) * SUMS + i % 2u;
      running[at] = state.top[i];
      running[at + 2u] = state.sum[i];
      running[at + 4u] = state.moment[i];
    }
  }
}
