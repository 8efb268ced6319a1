// Computes the mean and standard deviation of each set of numbers, or of the differences of two,
// where the mask counts them. One workgroup per set; lanes stride over its numbers, first for the
// mean, then for the squared distances from it.
//   values [rows, count]   mask [count]   sets [sets, 2]   moments [sets, 2]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
const NOTHING = 0xffffffffu;

fn number(pair: vec2u, i: u32) -> f32 {
  let x = values[pair.x * params.count + i];
  if (pair.y == NOTHING) { return x; }
  return x - values[pair.y * params.count + i];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let pair = sets[group.x];
  var lane_count = 0.0;
  var lane_sum = 0.0;
  for (var i = lane; i < params.count; i += WORKGROUP_SIZE) {
    if (mask[i] != 0.0) {
      lane_count += 1.0;
      lane_sum += number(pair, i);
    }
  }
  // At most 2^24, so f32 holds it exactly.
  let counted = max(1.0, workgroup_sum(lane, lane_count));
  let mean = workgroup_sum(lane, lane_sum) / counted;

  var lane_squares = 0.0;
  for (var i = lane; i < params.count; i += WORKGROUP_SIZE) {
    if (mask[i] != 0.0) {
      let distance = number(pair, i) - mean;
      lane_squares += distance * distance;
    }
  }
  let squares = workgroup_sum(lane, lane_squares);
  if (lane == 0u) { moments[group.x] = vec2f(mean, sqrt(squares / counted)); }
}
