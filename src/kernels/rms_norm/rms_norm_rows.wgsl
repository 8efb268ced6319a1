// Shares rows among invocations: one for a row of at most NARROW columns, a workgroup for a wider
// one, whose lanes stride over columns. The includer declares params (rows, cols), `fn
// partial_sum(row, first, stride) -> f32` over the columns first, first + stride, …, and `fn
// store(row, first, stride, sum)`, which writes those columns and ignores rows past the end.
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
override NARROW: u32;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.x + group.y * grid.x;
  let last = params.rows - 1u; // stands in for rows past the end, which are not stored
  if (params.cols <= NARROW) {
    let row = index * WORKGROUP_SIZE + lane;
    store(row, 0u, 1u, partial_sum(min(row, last), 0u, 1u));
  } else {
    let lane_sum = partial_sum(min(index, last), lane, WORKGROUP_SIZE);
    store(index, lane, WORKGROUP_SIZE, workgroup_sum(lane, lane_sum));
  }
}
