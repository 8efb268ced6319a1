// partials[block, c] = sum over the block's rows r of d_y[r, c] * x[r, c] * inv_rms[r]. One
// invocation per element. Block i holds rows i * rows_per_block and up; the last one may be
// shorter.
//   x [R, C]   inv_rms [R]   d_y [R, C]   partials [ceil(R / rows_per_block), C]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  let c = i % params.cols;
  let first = i / params.cols * params.rows_per_block;
  if (first >= params.rows) { return; }
  let end = min(first + params.rows_per_block, params.rows);
  var sum = 0.0;
  for (var r = first; r < end; r++) {
    let at = r * params.cols + c;
    sum += d_y[at] * x[at] * inv_rms[r];
  }
  partials[i] = sum;
}
