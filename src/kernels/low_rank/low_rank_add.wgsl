// y[t, column(c)] += scale * sum over k of low[t, slot(c) * rank + k] * b[c, k]. One invocation per
// token t and row c of b.
//   low [tokens, slots * rank]   b [rows_0 + rows_1 + rows_2, rank]   y [tokens, width]
// uses low_rank_modules.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  let rows = all_rows();
  if (i >= params.tokens * rows) { return; }
  let c = i % rows;
  let t = i / rows;
  let slot = slot_of(c);
  let rank = params.rank;
  let low_at = (t * slots() + slot) * rank;
  var sum = 0.0;
  for (var k = 0u; k < rank; k++) { sum += low[low_at + k] * b[c * rank + k]; }
  y[t * params.width + column_of(c, slot)] += params.scale * sum;
}
