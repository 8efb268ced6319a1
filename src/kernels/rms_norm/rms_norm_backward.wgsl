// Computes the gradient of y = x * inv_rms * weight with respect to x; accumulate 1 adds it to d_x,
// 0 overwrites.
//   d_x = inv_rms * g - x * inv_rms^3 * mean over c of g * x,   g = d_y * weight
//   x [R, C]   weight [C]   inv_rms [R]   d_y [R, C]   d_x [R, C]
// uses rms_norm_rows.wgsl, workgroup_reduce.wgsl

fn partial_sum(row: u32, first: u32, stride: u32) -> f32 {
  var sum = 0.0;
  for (var c = first; c < params.cols; c += stride) {
    let i = row * params.cols + c;
    sum += d_y[i] * weight[c] * x[i];
  }
  return sum;
}

fn store(row: u32, first: u32, stride: u32, sum: f32) {
  if (row >= params.rows) { return; }
  let inv = inv_rms[row];
  let pull = inv * inv * inv * sum / f32(params.cols);
  for (var c = first; c < params.cols; c += stride) {
    let i = row * params.cols + c;
    let gradient = inv * d_y[i] * weight[c] - x[i] * pull;
    if (params.accumulate == 1u) { d_x[i] += gradient; } else { d_x[i] = gradient; }
  }
}
