// token_weight = base_weight · scale · coef · w, with w = 1, the advantage or its sign;
// sums[slot] += Σ base_weight · scale · w · divergence.
// One workgroup strides over tokens.
//   divergence [tokens, 4]   base_weights, advantages, token_weights [tokens]   sums [slots]
// uses workgroup_reduce.wgsl

struct Params {
  tokens: u32,
  scale: f32,
  coef: f32,
  token_weight: u32, // 0 = 1, 1 = the advantage, 2 = its sign
  slot: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> divergence: array<vec4f>;
@group(0) @binding(2) var<storage, read> base_weights: array<f32>;
@group(0) @binding(3) var<storage, read> advantages: array<f32>;
@group(0) @binding(4) var<storage, read_write> token_weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<f32>;

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
