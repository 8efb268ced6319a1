// entropy = Σ loss_weight · entropy, added to sums[4];  d_entropy = -entropy_coeff · loss_weight.
// One workgroup strides over tokens.
//   entropy, loss_weights, d_entropy [tokens]   sums [6]
// uses workgroup_reduce.wgsl

struct Params {
  tokens: u32,
  entropy_coeff: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> entropy: array<f32>;
@group(0) @binding(2) var<storage, read> loss_weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_entropy: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;

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
