// y[r, c] = x[r, c] * inv_rms[r] * weight[c], inv_rms[r] = 1 / sqrt(mean over c of x[r, c]^2 +
// eps).
//   x [R, C]   weight [C]   y [R, C]   inv_rms [R]
// uses rms_norm_rows.wgsl, workgroup_reduce.wgsl

fn partial_sum(row: u32, first: u32, stride: u32) -> f32 {
  var sum = 0.0;
  for (var c = first; c < params.cols; c += stride) {
    let value = x[row * params.cols + c];
    sum += value * value;
  }
  return sum;
}

fn store(row: u32, first: u32, stride: u32, sum: f32) {
  if (row >= params.rows) { return; }
  let inv = 1.0 / sqrt(sum / f32(params.cols) + params.eps);
  if (first == 0u) { inv_rms[row] = inv; }
  for (var c = first; c < params.cols; c += stride) {
    let i = row * params.cols + c;
    y[i] = x[i] * inv * weight[c];
  }
}
