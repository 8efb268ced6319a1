// d_b[c, k] += scale * sum over tokens t of d_y[t, column(c)] * low[t, slot(c) * rank + k]. One
// invocation per element of d_b.
//   d_y [tokens, width]   low [tokens, slots * rank]   d_b [rows_0 + rows_1 + rows_2, rank]
// uses low_rank_modules.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  let rank = params.rank;
  if (i >= all_rows() * rank) { return; }
  let c = i / rank;
  let slot = slot_of(c);
  let column = column_of(c, slot);
  let columns = slots() * rank;
  let low_at = slot * rank + i % rank;
  var sum = 0.0;
  for (var t = 0u; t < params.tokens; t++) {
    sum += d_y[t * params.width + column] * low[t * columns + low_at];
  }
  d_b[i] += params.scale * sum;
}
