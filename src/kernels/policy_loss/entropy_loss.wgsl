// entropy = Σ loss_weight · entropy, added to sums[4];  d_entropy = -entropy_coeff · loss_weight.
// One workgroup strides over tokens.
//   entropy, loss_weights, d_entropy [tokens]   sums [6]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var mean = 0.0;
  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    let weight = loss_weights[i];
    if (weight != 0.0) { mean += weight * entropy[i]; }
    d_entropy[i] = 0.0 - weight * params.entropy_coeff;
  }
  let total = workgroup_sum(lane, mean);
  if (lane == 0u) { sums[4] += total; }
}
