// sample_token for small vocabularies: token ~ softmax(logits[r / n, :] / temperature), after top-k
// and top-p. One invocation per row, everything in plain loops over the vocabulary: no barriers, no
// shared memory.
//   logits [rows / n, V]   eos_token_ids [eos_count or more]   ended, next_ids [rows]
//   attention_mask [rows, width]
//   response_ids, rollout_log_probs, rollout_entropy [rows, response_length]
// uses sampling_logits.wgsl, philox.wgsl

// The largest key that at least top_k logits reach: the top_k-th largest logit's.
fn top_k_key(base: u32) -> u32 {
  var found = 0u;
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    var count = 0u;
    for (var v = 0u; v < params.vocab_size; v++) { count += select(0u, 1u, order_key(logits[base + v]) >= (found | bit)); }
    if (count >= params.top_k) { found |= bit; }
  }
  return found;
}

// Probability mass, times the softmax's denominator, of all logits whose key is at least `key`.
fn mass_above(base: u32, row_max: f32, inverse_temperature: f32, key: u32) -> f32 {
  var mass = 0.0;
  for (var v = 0u; v < params.vocab_size; v++) {
    let logit = logits[base + v];
    if (order_key(logit) >= key) { mass += mass_of(logit, row_max, inverse_temperature); }
  }
  return mass;
}

// The largest key whose mass reaches top_p of the mass above `lowest_key`; never above the largest
// logit's.
fn top_p_key(base: u32, row_max: f32, inverse_temperature: f32, lowest_key: u32) -> u32 {
  let enough = params.top_p * mass_above(base, row_max, inverse_temperature, lowest_key);
  var found = 0u;
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    let key = max(found | bit, lowest_key);
    if (mass_above(base, row_max, inverse_temperature, key) >= enough) { found |= bit; }
  }
  return clamp(found, lowest_key, order_key(row_max));
}

// Inverse CDF over the tokens whose key is at least `key`; `total` is their mass, summed in the
// same order.
fn draw(base: u32, row_max: f32, inverse_temperature: f32, key: u32, total: f32, uniform_value: f32) -> u32 {
  let point = uniform_value * total;
  var drawn = 0u;
  var sum = 0.0;
  for (var v = 0u; v < params.vocab_size && sum <= point; v++) {
    let logit = logits[base + v];
    if (order_key(logit) >= key) {
      let token_mass = mass_of(logit, row_max, inverse_temperature);
      if (token_mass > 0.0) { drawn = v; }
      sum += token_mass;
    }
  }
  return drawn;
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = (group.x + group.y * grid.x) * 64u + lane;
  if (row >= params.rows) { return; }
  let base = row / params.n * params.vocab_size;
  let is_greedy = params.temperature == 0.0;
  let inverse_temperature = select(1.0 / params.temperature, 1.0, is_greedy);
  let was_ended = ended[row] != 0u;

  var token = params.pad_token_id;
  var log_prob = 0.0;
  var entropy = 0.0;
  if (!was_ended) {
    var row_max = MOST_NEGATIVE;
    var argmax = 0u; // the lowest index of the largest logit
    for (var v = 0u; v < params.vocab_size; v++) {
      let logit = logits[base + v];
      if (logit > row_max) { argmax = v; }
      row_max = max(row_max, logit);
    }

    var sums = vec2f(); // of exp(z) and of exp(z) z, with z = (logit - row_max) / temperature
    var is_broken = false;
    for (var v = 0u; v < params.vocab_size; v++) {
      let logit = logits[base + v];
      // Bits, not comparisons: WGSL may assume that no value is Inf or NaN.
      is_broken |= (bitcast<u32>(logit) & EXPONENT) == EXPONENT;
      let mass = mass_of(logit, row_max, inverse_temperature);
      // Where the mass underflows, z may be so large that 0 z is no number.
      if (mass > 0.0) { sums += mass * vec2f(1.0, (logit - row_max) * inverse_temperature); }
    }

    if (is_greedy) {
      token = argmax;
    } else {
      var key = 0u;
      var total = sums.x;
      if (params.top_k > 0u && params.top_k < params.vocab_size) { key = top_k_key(base); }
      if (params.top_p < 1.0) { key = top_p_key(base, row_max, inverse_temperature, key); }
      if (key > 0u) { total = mass_above(base, row_max, inverse_temperature, key); }
      let counter = vec4u(params.step, params.row_offset + row, params.position, 0u);
      let bits = philox4x32(counter, vec2u(params.seed_low, params.seed_high));
      token = draw(base, row_max, inverse_temperature, key, total, uniform24(bits.x));
    }
    // Scored by the full softmax, whatever the filters left.
    log_prob = (logits[base + token] - row_max) * inverse_temperature - log(sums.x);
    entropy = max(0.0, log(sums.x) - sums.y / sums.x);
    if (is_broken) {
      // NaN at run time: WGSL has no constant for it.
      log_prob = bitcast<f32>(params.rows | 0x7fc00000u);
      entropy = log_prob;
    }
    if (is_eos(token)) { ended[row] = 1u; }
  }

  let at = row * params.response_length + params.position;
  response_ids[at] = token;
  rollout_log_probs[at] = log_prob;
  rollout_entropy[at] = entropy;
  next_ids[row] = token;
  attention_mask[row * params.width + params.column] = select(1u, 0u, was_ended);
}
