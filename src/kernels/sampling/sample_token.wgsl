// token ~ softmax(logits[r / n, :] / temperature), after top-k and top-p, one workgroup per row.
// Temperature 0 is argmax. Thresholds are found bit by bit on a u32 key that orders as the logits
// do; the draw walks the CDF in vocabulary order.
//   logits [rows / n, V]   eos_token_ids [eos_count or more]   ended, next_ids [rows]
//   attention_mask [rows, width]
//   response_ids, rollout_log_probs, rollout_entropy [rows, response_length]
// uses sampling_logits.wgsl, philox.wgsl

const WORKGROUP_SIZE = 64u;

var<workgroup> row_ended: u32;
var<workgroup> lane_parts: array<vec2f, WORKGROUP_SIZE>;
var<workgroup> lane_masses: array<f32, WORKGROUP_SIZE>;
var<workgroup> drawn_token: u32;

// Sums and maxima over all lanes, in lane order. Every lane adds up all parts itself: two barriers
// where a tree has seven, and software adapters pay by the barrier.
fn sum_lanes(lane: u32, part: vec2f) -> vec2f {
  workgroupBarrier();
  lane_parts[lane] = part;
  workgroupBarrier();
  var sum = vec2f();
  for (var l = 0u; l < WORKGROUP_SIZE; l++) { sum += lane_parts[l]; }
  return sum;
}

fn max_lanes(lane: u32, part: f32) -> f32 {
  workgroupBarrier();
  lane_parts[lane].x = part;
  workgroupBarrier();
  var largest = MOST_NEGATIVE;
  for (var l = 0u; l < WORKGROUP_SIZE; l++) { largest = max(largest, lane_parts[l].x); }
  return largest;
}

// The lowest index of the largest logit; the last where none is, of NaN alone. Indices stay below
// 2^24, so f32 holds them exactly.
fn argmax(lane: u32, base: u32, row_max: f32) -> u32 {
  var lowest = MOST_NEGATIVE;
  for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) {
    if (logits[base + v] == row_max) { lowest = max(lowest, -f32(v)); }
  }
  return u32(min(-max_lanes(lane, lowest), f32(params.vocab_size - 1u)));
}

// The largest key that at least top_k logits reach: the top_k-th largest logit's.
fn top_k_key(lane: u32, base: u32) -> u32 {
  var found = 0u;
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    var lane_count = 0.0; // at most 2^24, exact
    for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) {
      lane_count += select(0.0, 1.0, order_key(logits[base + v]) >= (found | bit));
    }
    if (sum_lanes(lane, vec2f(lane_count)).x >= f32(params.top_k)) { found |= bit; }
  }
  return found;
}

// Probability mass, times the softmax's denominator, of all logits whose key is at least `key`.
fn mass_above(lane: u32, base: u32, row_max: f32, inverse_temperature: f32, key: u32) -> f32 {
  var lane_mass = 0.0;
  for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) {
    let logit = logits[base + v];
    if (order_key(logit) >= key) { lane_mass += mass_of(logit, row_max, inverse_temperature); }
  }
  return sum_lanes(lane, vec2f(lane_mass)).x;
}

// The largest key whose mass reaches top_p of the mass above `lowest_key`; never above the largest
// logit's.
fn top_p_key(lane: u32, base: u32, row_max: f32, inverse_temperature: f32, lowest_key: u32) -> u32 {
  let enough = params.top_p * mass_above(lane, base, row_max, inverse_temperature, lowest_key);
  var found = 0u;
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    let key = max(found | bit, lowest_key);
    if (mass_above(lane, base, row_max, inverse_temperature, key) >= enough) { found |= bit; }
  }
  return clamp(found, lowest_key, order_key(row_max));
}

// Inverse CDF over the tokens whose key is at least `key`. Each lane owns a contiguous chunk of the
// vocabulary.
fn draw(lane: u32, base: u32, row_max: f32, inverse_temperature: f32, key: u32, uniform_value: f32) -> u32 {
  let chunk = (params.vocab_size + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
  let first = min(lane * chunk, params.vocab_size);
  let end = min(first + chunk, params.vocab_size);
  var mass = 0.0;
  for (var v = first; v < end; v++) {
    let logit = logits[base + v];
    if (order_key(logit) >= key) { mass += mass_of(logit, row_max, inverse_temperature); }
  }
  lane_masses[lane] = mass;
  workgroupBarrier();

  // Every lane adds up all chunks in the same order, so all agree on who owns the point.
  var total = 0.0;
  for (var l = 0u; l < WORKGROUP_SIZE; l++) { total += lane_masses[l]; }
  let point = uniform_value * total;
  var owner = 0u;
  var before = 0.0;
  var up_to = 0.0;
  for (var l = 0u; l < WORKGROUP_SIZE && up_to <= point; l++) {
    if (lane_masses[l] > 0.0) {
      owner = l;
      before = up_to;
      up_to += lane_masses[l];
    }
  }
  if (lane == owner) {
    var sum = 0.0;
    for (var v = first; v < end && before + sum <= point; v++) {
      let logit = logits[base + v];
      if (order_key(logit) >= key) {
        let token_mass = mass_of(logit, row_max, inverse_temperature);
        if (token_mass > 0.0) { drawn_token = v; }
        sum += token_mass;
      }
    }
  }
  return workgroupUniformLoad(&drawn_token);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.x + group.y * grid.x;
  let is_real = index < params.rows;
  let row = min(index, params.rows - 1u);
  let base = row / params.n * params.vocab_size;
  let is_greedy = params.temperature == 0.0;
  let inverse_temperature = select(1.0 / params.temperature, 1.0, is_greedy);

  // The grid's overhang counts as ended and stores nothing.
  if (lane == 0u) { row_ended = select(1u, ended[row], is_real); }
  let was_ended = workgroupUniformLoad(&row_ended) != 0u;

  var token = params.pad_token_id;
  var log_prob = 0.0;
  var entropy = 0.0;
  if (!was_ended) {
    var lane_max = MOST_NEGATIVE;
    for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) { lane_max = max(lane_max, logits[base + v]); }
    let row_max = max_lanes(lane, lane_max);

    var lane_sums = vec2f(); // of exp(z) and of exp(z) z, with z = (logit - row_max) / temperature
    // NaN at run time: WGSL has no constant for it.
    let not_a_number = bitcast<f32>(params.rows | 0x7fc00000u);
    var lane_broken = false;
    for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) {
      // Bits, not comparisons: WGSL may assume that no value is Inf or NaN.
      lane_broken |= (bitcast<u32>(logits[base + v]) & EXPONENT) == EXPONENT;
      let mass = mass_of(logits[base + v], row_max, inverse_temperature);
      // Where the mass underflows, z may be so large that 0 z is no number.
      if (mass > 0.0) { lane_sums += mass * vec2f(1.0, (logits[base + v] - row_max) * inverse_temperature); }
    }
    if (lane_broken) { lane_sums.x = not_a_number; }
    let sums = sum_lanes(lane, lane_sums);

    if (is_greedy) {
      token = argmax(lane, base, row_max);
    } else {
      var key = 0u;
      if (params.top_k > 0u && params.top_k < params.vocab_size) { key = top_k_key(lane, base); }
      if (params.top_p < 1.0) { key = top_p_key(lane, base, row_max, inverse_temperature, key); }
      let counter = vec4u(params.step, params.row_offset + row, params.position, 0u);
      let bits = philox4x32(counter, vec2u(params.seed_low, params.seed_high));
      token = draw(lane, base, row_max, inverse_temperature, key, uniform24(bits.x));
    }
    // Scored by the full softmax, whatever the filters left.
    log_prob = (logits[base + token] - row_max) * inverse_temperature - log(sums.x);
    entropy = max(0.0, log(sums.x) - sums.y / sums.x);
    if ((bitcast<u32>(sums.x) & EXPONENT) == EXPONENT) {
      log_prob = not_a_number;
      entropy = not_a_number;
    }
  }

  if (lane == 0u && is_real) {
    let at = row * params.response_length + params.position;
    response_ids[at] = token;
    rollout_log_probs[at] = log_prob;
    rollout_entropy[at] = entropy;
    next_ids[row] = token;
    attention_mask[row * params.width + params.column] = select(1u, 0u, was_ended);
    if (!was_ended && is_eos(token)) { ended[row] = 1u; }
  }
}
