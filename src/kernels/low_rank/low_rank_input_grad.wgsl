// d_low[t, slot * rank + k] = scale * sum over the module's rows c of d_y[t, column(c)] * b[c, k].
// One invocation per element of d_low.
//   d_y [tokens, width]   b [rows_0 + rows_1 + rows_2, rank]   d_low [tokens, slots * rank]
// uses low_rank_modules.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  let rank = params.rank;
  let columns = slots() * rank;
  if (i >= params.tokens * columns) { return; }
  let t = i / columns;
  let k = i % rank;
  let run = run_of(i % columns / rank);
  let d_y_at = t * params.width + run.x;
  var sum = 0.0;
  for (var c = 0u; c < run.z; c++) { sum += d_y[d_y_at + c] * b[(run.y + c) * rank + k]; }
  d_low[i] = params.scale * sum;
}
