// z = hidden · weightᵀ · inv_temperature;  lse = log Σ exp z;  log_prob = z[y] - lse;
// entropy = lse - Σ softmax(z) z;
// sum_pi_squared = Σ softmax(z)²; for small vocabularies and states. One invocation per token of
// the list, the vocabulary in a plain loop with running sums. Tokens with is_scored 0 give 0. A
// line with $ stands for QUADS = C / 4 lines, one per four channels.
//   hidden [states, C]   weight [V, C]   scored [S, 4]
//   log_probs, entropy, lse, sum_pi_squared [B, R]

const VERY_NEGATIVE = -1e30;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let entry = (group.x + group.y * grid.x) * 64u + lane;
  if (entry >= params.tokens) { return; }
  let token = scored[entry];
  let slot = token.y;
  if (token.w == 0u) {
    log_probs[slot] = 0.0;
    entropy[slot] = 0.0;
    lse[slot] = 0.0;
    sum_pi_squared[slot] = 0.0;
    return;
  }
  let h = token.x;
  let h$ = hidden[h][$];
  let id = token.z;

  var top = VERY_NEGATIVE; // m = max z so far
  var sum = 0.0; // Σ exp(z - m)
  var moment = 0.0; // Σ exp(z - m) (z - m): shifted, so that large logits do not cancel in the entropy
  var squares = 0.0; // Σ exp(z - m)²
  var label = 0.0;
  for (var v = 0u; v < params.vocab_size; v++) {
    var products = vec4f();
    products = fma(h$, weight[v][$], products);
    let z = (products.x + products.y + products.z + products.w) * params.inv_temperature;
    // A new maximum shrinks what was summed; otherwise the entry itself is the smaller one.
    let drop = -abs(z - top);
    let factor = exp(drop);
    let is_new_top = z > top;
    moment = select(fma(factor, drop, moment), fma(drop, sum, moment) * factor, is_new_top);
    sum = select(sum + factor, fma(sum, factor, 1.0), is_new_top);
    let square = factor * factor;
    squares = select(squares + square, fma(squares, square, 1.0), is_new_top);
    top = max(top, z);
    label = select(label, z, v == id);
  }
  let log_sum = log(sum);
  log_probs[slot] = label - top - log_sum;
  entropy[slot] = log_sum - moment / sum;
  lse[slot] = top + log_sum;
  sum_pi_squared[slot] = squares / (sum * sum);
}
