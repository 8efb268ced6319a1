// token_weight = base_weight · scale · coef · w, with w = 1, the advantage or its sign;
// sums[slot] += Σ base_weight · scale · w · divergence.
// One workgroup strides over tokens.
//   divergence [tokens, 4]   base_weights, advantages, token_weights [tokens]   sums [slots]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var loss = 0.0;
  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    var weight = base_weights[i] * params.scale;
    if (params.token_weight == 1u) { weight *= advantages[i]; }
    if (params.token_weight == 2u) { weight *= sign(advantages[i]); }
    if (weight != 0.0) { loss += weight * divergence[i].w; }
    token_weights[i] = weight * params.coef;
  }
  let total = workgroup_sum(lane, loss);
  if (lane == 0u) { sums[params.slot] += total; }
}
