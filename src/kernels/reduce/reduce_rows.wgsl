// out[c] += sum over r of x[r, c]. One workgroup per 8 columns; 32 lanes stride over a column's rows; then
// one lane adds theirs up in order: a tree would save little and its barriers cost software adapters much.
//   x [R, C]   out [C]

struct Params {
  rows: u32,
  cols: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

const COLUMNS = 8u;
const LANES = 32u;
var<workgroup> partial_sums: array<f32, 256>; // [LANES, COLUMNS]

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let c = group.x * COLUMNS + lane % COLUMNS;
  let is_column = c < params.cols;
  var sum = 0.0;
  if (is_column) {
    for (var r = lane / COLUMNS; r < params.rows; r += LANES) { sum += x[r * params.cols + c]; }
  }
  partial_sums[lane] = sum;
  workgroupBarrier();
  if (is_column && lane < COLUMNS) {
    for (var i = lane + COLUMNS; i < LANES * COLUMNS; i += COLUMNS) { sum += partial_sums[i]; }
    out[c] += sum;
  }
}
