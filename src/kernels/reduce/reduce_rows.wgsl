// out[c] += sum over r of x[r, c]. One workgroup per 8 columns; 8 lanes stride over a column's
// rows, four rows at a time so that loads need not wait for sums; then one lane adds theirs up in
// order. Software adapters pay for each barrier and for each lane that waits at one: there is one
// barrier and there are 64 lanes.
//   x [R, C]   out [C]

const COLUMNS = 8u;
const SLICES = 8u;
var<workgroup> partial_sums: array<f32, 64>; // [SLICES, COLUMNS]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let c = (group.x + group.y * grid.x) * COLUMNS + lane % COLUMNS;
  let is_column = c < params.cols;
  var sums = vec4f();
  if (is_column) {
    let step = SLICES * params.cols;
    var r = lane / COLUMNS;
    for (; r + 3u * SLICES < params.rows; r += 4u * SLICES) {
      let at = r * params.cols + c;
      sums += vec4f(x[at], x[at + step], x[at + 2u * step], x[at + 3u * step]);
    }
    for (; r < params.rows; r += SLICES) { sums.x += x[r * params.cols + c]; }
  }
  var sum = (sums.x + sums.y) + (sums.z + sums.w);
  partial_sums[lane] = sum;
  workgroupBarrier();
  if (is_column && lane < COLUMNS) {
    for (var i = lane + COLUMNS; i < SLICES * COLUMNS; i += COLUMNS) { sum += partial_sums[i]; }
    out[c] += sum;
  }
}
