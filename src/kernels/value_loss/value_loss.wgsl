// loss = 1/2 Σ loss_weights · max((v - R)², (c - R)²), v = vpreds, R = returns,
// c = clamp(v, values - cliprange_value, values + cliprange_value).
// d_v = loss_weight · (v - R) where the first is the larger, 0 where the second is. One workgroup
// strides over tokens.
//   vpreds, values, returns, token_weights, loss_weights, d_vpreds [tokens]   sums [3]
// token_weights = response_mask / tokens: metrics, and 0 where masked; masked tokens are not looked
// at.
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var lane_loss = 0.0;
  var lane_clipped = 0.0;
  var lane_vpred = 0.0;
  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    let token_weight = token_weights[i];
    var d_vpred = 0.0;
    if (token_weight != 0.0) {
      let vpred = vpreds[i];
      let clipped = clamp(vpred, values[i] - params.cliprange_value, values[i] + params.cliprange_value);
      let error = vpred - returns[i];
      let clipped_error = clipped - returns[i];
      let larger = max(abs(error), abs(clipped_error));
      let is_clipped = abs(clipped_error) > abs(error);

      lane_loss += 0.5 * loss_weights[i] * larger * larger;
      lane_clipped += select(0.0, token_weight, is_clipped);
      lane_vpred += token_weight * vpred;
      // Outside the range, equal errors on both sides of R share the gradient, and one half has
      // nowhere to go.
      let share = select(1.0, 0.5, clipped != vpred && abs(clipped_error) == abs(error));
      d_vpred = select(share * loss_weights[i] * error, 0.0, is_clipped);
    }
    d_vpreds[i] = d_vpred;
  }
  let loss = workgroup_sum(lane, lane_loss);
  let clipfrac = workgroup_sum(lane, lane_clipped);
  let vpred_mean = workgroup_sum(lane, lane_vpred);
  if (lane == 0u) {
    sums[0] += loss;
    sums[1] += clipfrac;
    sums[2] += vpred_mean;
  }
}
