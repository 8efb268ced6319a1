// loss = -Σ mask · log_prob · inv_token_count;  d_log_prob = -mask · inv_token_count;
// d_entropy = 0.
// One workgroup strides over tokens.
//   log_probs, response_mask, d_log_probs, d_entropy [tokens]   sums [1]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var loss = 0.0;
  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    let weight = response_mask[i] * params.inv_token_count;
    if (weight != 0.0) { loss -= weight * log_probs[i]; }
    d_log_probs[i] = 0.0 - weight;
    d_entropy[i] = 0.0;
  }
  let total = workgroup_sum(lane, loss);
  if (lane == 0u) { sums[0] += total; }
}
