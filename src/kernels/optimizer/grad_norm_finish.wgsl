// norm = sqrt(Σ partials);  clip_coef = min(1, max_norm / (norm + 1e-6));
// c ← c + (1 - β)(1 - c), so that after t steps
// c = 1 - βᵗ, for both betas of each active segment whose factor is not 0. One workgroup; lanes
// stride over segments.
//   partials [OPTIMIZER_BLOCKS] (bits of f32)   control [CONTROL.length]
//   corrections [segments, 2]
// uses workgroup_reduce.wgsl; OPTIMIZER_BLOCKS, the indices of control and lrFactor come from
// optimizer.ts

override WORKGROUP_SIZE: u32 = 64;
const EXPONENT = 0x7f800000u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  // Bits, not comparisons: WGSL may assume that no value is Inf or NaN.
  var lane_sum = 0.0;
  var lane_broken = 0.0;
  for (var b = lane; b < OPTIMIZER_BLOCKS; b += WORKGROUP_SIZE) {
    let bits = partials[b];
    if ((bits & EXPONENT) == EXPONENT) { lane_broken = 1.0; }
    lane_sum += bitcast<f32>(bits);
  }
  let broken = workgroup_max(lane, lane_broken);
  let norm = sqrt(workgroup_sum(lane, lane_sum));
  let is_finite = broken == 0.0 && (bitcast<u32>(norm) & EXPONENT) != EXPONENT;

  if (is_finite) {
    for (var s = lane; s < min(params.active_segments, params.segments); s += WORKGROUP_SIZE) {
      if (lrFactor(s) == 0.0) { continue; }
      let c1 = corrections[2u * s];
      let c2 = corrections[2u * s + 1u];
      corrections[2u * s] = c1 + params.one_minus_beta1 * (1.0 - c1);
      corrections[2u * s + 1u] = c2 + params.one_minus_beta2 * (1.0 - c2);
    }
  }
  if (lane == 0u) {
    control[GRAD_NORM] = norm;
    control[IS_FINITE] = f32(is_finite);
    if (is_finite) {
      control[CLIP_COEF] = min(1.0, params.max_norm / (norm + 1e-6));
      control[OPTIMIZER_STEPS] += 1.0;
    } else {
      control[CLIP_COEF] = 0.0;
      control[SKIPPED_STEPS] += 1.0;
    }
  }
}
