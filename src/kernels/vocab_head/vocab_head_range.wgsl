// Computes vocab_head_forward over one range of the vocabulary: the sums of the softmax so far,
// joined with those of this range. One workgroup per 16 tokens of the list. The first range
// (first_id 0) starts the sums; tokens with is_scored 0 are left alone.
//   hidden [states, C]   weight [rows of the range, C]   scored [S, 4]
//   running [B · R, 5]: top, sum, moment, squares, label
// uses head_softmax.wgsl, head_tile.wgsl, head_hidden.wgsl, workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
const SUMS = 5u;

/** The sums of the ranges before this one, of tokens mine … mine + 3. */
fn sums_before(mine: u32) -> Softmax {
  var state = nothing_yet();
  for (var k = 0u; k < 4u; k++) {
    if (mine + k >= params.tokens || params.first_id == 0u) { break; }
    let token = scored[mine + k];
    if (token.w == 0u) { continue; }
    let at = token.y * SUMS;
    state.top[k] = running[at];
    state.sum[k] = running[at + 1u];
    state.moment[k] = running[at + 2u];
    state.squares[k] = running[at + 3u];
    state.label[k] = running[at + 4u];
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
  let mine = first + lane / 16u * 4u;
  let range = softmax_over_range(lane, first, tokens_of(mine, params.first_id));
  if (lane % 16u == 0u) {
    let state = joined(sums_before(mine), range);
    for (var k = 0u; k < 4u; k++) {
      if (mine + k >= params.tokens) { break; }
      let token = scored[mine + k];
      if (token.w == 0u) { continue; }
      let at = token.y * SUMS;
      running[at] = state.top[k];
      running[at + 1u] = state.sum[k];
      running[at + 2u] = state.moment[k];
      running[at + 3u] = state.squares[k];
      running[at + 4u] = state.label[k];
    }
  }
}
