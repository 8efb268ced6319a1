// Declares the interface that every policy loss shares, and the end of each: adding its sums in one
// fixed tree.
//   log_probs, old_log_probs, advantages, token_weights, pg_weights, rollout_is_weights,
//   d_log_probs [rows, R]
//   sums [6]
// policy_loss_frame.ts declares the params, with the numbers of the loss. token_weights =
// response_mask / tokens (metrics; 0 = masked), pg_weights = aggregation weight ·
// rollout_is_weights.

override WORKGROUP_SIZE: u32 = 256;

// One sum at a time: SwiftShader compiles a store for each word of workgroup memory, to clear it.
var<workgroup> totals: array<f32, WORKGROUP_SIZE>;

/** exp(x), and exactly 1 at 0: by WGSL's letter exp(0) is only nearly 1. */
fn ratio_of(x: f32) -> f32 {
  return select(exp(x), 1.0, x == 0.0);
}

/** The sum over all lanes, for each of them. Holds barriers: every lane calls it. */
fn sum_of_lanes(lane: u32, value: f32) -> f32 {
  workgroupBarrier();
  totals[lane] = value;
  workgroupBarrier();
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    if (lane < stride) { totals[lane] += totals[lane + stride]; }
    workgroupBarrier();
  }
  return totals[0];
}

/** Adds pg_loss, ppo_kl, pg_clipfrac, pg_clipfrac_lower of all lanes to `sums`. Holds barriers. */
fn add_sums(lane: u32, values: vec4f) {
  var own = values;
  for (var k = 0u; k < 4u; k++) {
    let sum = sum_of_lanes(lane, own[k]);
    if (lane == 0u) { sums[k] += sum; }
  }
}
