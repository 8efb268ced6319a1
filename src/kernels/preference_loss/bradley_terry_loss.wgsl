// loss = inv_pairs · Σ softplus(rejected - chosen);
// d_rejected = -d_chosen = inv_pairs · sigmoid(rejected - chosen).
// One workgroup strides over pairs.
//   scores, d_scores [2 · pairs], all chosen, then the rejected in the same order   sums [2]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

// log(1 + x) for x in [0, 1]; a sum of powers where 1 + x would round x away.
fn log_1_plus(x: f32) -> f32 {
  return select(log(1.0 + x), x * (1.0 - x * (0.5 - x / 3.0)), x < 0x1p-8f);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var lane_loss = 0.0;
  var lane_correct = 0.0;
  for (var i = lane; i < params.pairs; i += WORKGROUP_SIZE) {
    let margin = scores[i] - scores[params.pairs + i];
    let e = exp(-abs(margin)); // at most 1, so nothing overflows
    lane_loss += max(-margin, 0.0) + log_1_plus(e);
    lane_correct += select(0.0, 1.0, margin > 0.0);
    let slope = params.inv_pairs * select(1.0, e, margin > 0.0) / (1.0 + e);
    d_scores[i] = -slope;
    d_scores[params.pairs + i] = slope;
  }
  let loss = workgroup_sum(lane, lane_loss);
  let correct = workgroup_sum(lane, lane_correct);
  if (lane == 0u) {
    sums[0] += params.inv_pairs * loss;
    sums[1] += params.inv_pairs * correct;
  }
}
