// norm_x[r] = ‖x[r]‖, norm_y[r] = ‖y[r]‖, cosine[r] = x[r] · y[r] / (max(norm_x[r], EPS)
// max(norm_y[r], EPS)). Rows of at most NARROW columns: one invocation per row. Wider rows: one
// workgroup per row, lanes stride over columns.
//   x, y [R, C]   cosine, norm_x, norm_y [R]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
override NARROW: u32;
const EPS = 1e-8;

/** Σ x², Σ y², Σ x y. */
fn products(row: u32, first: u32, stride: u32) -> vec3f {
  var sums = vec3f();
  for (var c = first; c < params.cols; c += stride) {
    let a = x[row * params.cols + c];
    let b = y[row * params.cols + c];
    sums += vec3f(a * a, b * b, a * b);
  }
  return sums;
}

fn store(row: u32, sums: vec3f) {
  if (row >= params.rows) { return; }
  let norms = sqrt(sums.xy);
  norm_x[row] = norms.x;
  norm_y[row] = norms.y;
  // Divided one by one: the product of two small norms leaves f32's range.
  cosine[row] = sums.z / max(norms.x, EPS) / max(norms.y, EPS);
}

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
    store(row, products(min(row, last), 0u, 1u));
  } else {
    let parts = products(min(index, last), lane, WORKGROUP_SIZE);
    let xx = workgroup_sum(lane, parts.x);
    let yy = workgroup_sum(lane, parts.y);
    let xy = workgroup_sum(lane, parts.z);
    if (lane == 0u) { store(index, vec3f(xx, yy, xy)); }
  }
}
