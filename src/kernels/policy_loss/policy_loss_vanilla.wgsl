// loss = Σ mask (L - entropy_coeff · entropy) · inv_token_count, with x = clamp(log_prob - old_log_prob, ±20), r = exp(x),
//   M = max(-A r, -A clamp(r, 1 - low, 1 + high));  L = min(-A · clip_ratio_c, M) where A < 0, else M.
// d_log_prob = -A r where neither clip is active, else 0. One workgroup strides over tokens: loss, gradient and metric
// sums in one dispatch and a fixed order.
//   log_probs, old_log_probs, advantages, response_mask, entropy, d_log_probs, d_entropy [tokens]   sums [5]

struct Params {
  tokens: u32,
  clip_ratio_low: f32,
  clip_ratio_high: f32,
  clip_ratio_c: f32,
  inv_token_count: f32,
  entropy_coeff: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> log_probs: array<f32>;
@group(0) @binding(2) var<storage, read> old_log_probs: array<f32>;
@group(0) @binding(3) var<storage, read> advantages: array<f32>;
@group(0) @binding(4) var<storage, read> response_mask: array<f32>;
@group(0) @binding(5) var<storage, read> entropy: array<f32>;
@group(0) @binding(6) var<storage, read_write> d_log_probs: array<f32>;
@group(0) @binding(7) var<storage, read_write> d_entropy: array<f32>;
@group(0) @binding(8) var<storage, read_write> sums: array<f32>;

override WORKGROUP_SIZE: u32 = 256;

var<workgroup> totals: array<array<f32, 5>, 256>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var loss = 0.0;
  var kl = 0.0;
  var clipped = 0.0;
  var clipped_lower = 0.0;
  var entropy_sum = 0.0;

  for (var i = lane; i < params.tokens; i += WORKGROUP_SIZE) {
    let weight = response_mask[i] * params.inv_token_count;
    var d_log_prob = 0.0;
    if (weight != 0.0) {
      let advantage = advantages[i];
      let log_ratio = log_probs[i] - old_log_probs[i];
      let x = clamp(log_ratio, -20.0, 20.0);
      let ratio = select(exp(x), 1.0, x == 0.0); // exp(0) is only nearly 1 by WGSL's letter
      let unclipped = -advantage * ratio;
      let clipped_loss = -advantage * clamp(ratio, 1.0 - params.clip_ratio_low, 1.0 + params.clip_ratio_high);
      let larger = max(unclipped, clipped_loss);
      let bound = -advantage * params.clip_ratio_c;
      let is_clipped = clipped_loss > unclipped;
      let is_clipped_lower = advantage < 0.0 && larger > bound;

      loss += weight * select(larger, bound, is_clipped_lower);
      kl -= weight * x;
      clipped += select(0.0, weight, is_clipped);
      clipped_lower += select(0.0, weight, is_clipped_lower);
      entropy_sum += weight * entropy[i];
      let is_flat = is_clipped || is_clipped_lower || abs(log_ratio) > 20.0 || advantage == 0.0;
      if (!is_flat) { d_log_prob = weight * unclipped; }
    }
    d_log_probs[i] = d_log_prob;
    d_entropy[i] = 0.0 - weight * params.entropy_coeff;
  }

  // In the order of POLICY_LOSS_SUMS; one tree for all five.
  totals[lane] = array<f32, 5>(loss, kl, clipped, clipped_lower, entropy_sum);
  workgroupBarrier();
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    if (lane < stride) {
      for (var s = 0u; s < 5u; s++) { totals[lane][s] += totals[lane + stride][s]; }
    }
    workgroupBarrier();
  }
  if (lane < 5u) { sums[lane] += totals[0][lane]; }
}
