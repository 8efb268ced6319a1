// Per token l = log_prob - rollout_log_prob; k1 = -l, k2 = l²/2, k3 = e^l - 1 - l of l clamped to
// ±20.
//   modified_mask = response_mask where every statistic (of the token; sum, mean, maximum over its
//   row) is within its bounds.
//   rollout_is_weights = min(w, is_threshold) · response_mask, or where is_lower > 0: w within the
//   two, else 0 (IcePop);
//   over their mean if batch_normalize; 1 · response_mask where weighs is 0, with the sums of what
//   the weights would be;
//   w = exp(clamp(l, ±20)) per token, exp(clamp(Σ l, ±20)) per row, or 1.
// One workgroup, a lane per row; sums of all lanes in one fixed tree. Masked tokens are not looked
// at.
//   log_probs, rollout_log_probs, response_mask, modified_mask, rollout_is_weights [rows, R]
//   sums [7]
// uses k3.wgsl

override WORKGROUP_SIZE: u32 = 256;

const PER_TOKEN = 1u;
const PER_ROW = 2u;

// tokens, Σ -l, rejected tokens, Σ w before truncation (IcePop: after it); rows with a token, Σ w
// after truncation (of tokens or rows); tokens or rows with w above and below the bounds, tokens
// with w beyond both.
struct Totals {
  tokens: vec4f,
  weights: vec2f,
  beyond: vec3f,
}

var<workgroup> totals: array<Totals, 256>;

fn total_of_all(lane: u32, part: Totals) -> Totals {
  totals[lane] = part;
  workgroupBarrier();
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    if (lane < stride) {
      totals[lane].tokens += totals[lane + stride].tokens;
      totals[lane].weights += totals[lane + stride].weights;
      totals[lane].beyond += totals[lane + stride].beyond;
    }
    workgroupBarrier();
  }
  return totals[0];
}

// (k1, k2, k3) of a log ratio.
fn divergences(log_ratio: f32) -> vec3f {
  let l = clamp(log_ratio, -20.0, 20.0);
  return vec3f(-l, 0.5 * l * l, k3(l));
}

// Each statistic has passed if it is within its bounds; those that are off have bounds beyond any
// value.
fn within(x: vec3f, lower: vec3f, upper: vec3f) -> bool {
  return all(x >= lower) && all(x <= upper);
}

fn keeps_token(k: vec3f) -> bool {
  return within(
    k,
    vec3f(params.lower_token_k1, params.lower_token_k2, params.lower_token_k3),
    vec3f(params.upper_token_k1, params.upper_token_k2, params.upper_token_k3),
  );
}

fn keeps_row(sum: vec3f, mean: vec3f, largest: vec3f) -> bool {
  return within(
    sum,
    vec3f(params.lower_seq_sum_k1, params.lower_seq_sum_k2, params.lower_seq_sum_k3),
    vec3f(params.upper_seq_sum_k1, params.upper_seq_sum_k2, params.upper_seq_sum_k3),
  ) && within(
    mean,
    vec3f(params.lower_seq_mean_k1, params.lower_seq_mean_k2, params.lower_seq_mean_k3),
    vec3f(params.upper_seq_mean_k1, params.upper_seq_mean_k2, params.upper_seq_mean_k3),
  ) && within(
    vec3f(0.0, largest.yz),
    vec3f(0.0, params.lower_seq_max_k2, params.lower_seq_max_k3),
    vec3f(0.0, params.upper_seq_max_k2, params.upper_seq_max_k3),
  );
}

// What a row is judged by: its tokens, Σ l without clamp, and sum and maximum of (k1, k2, k3).
struct Row {
  tokens: f32,
  log_ratio: f32,
  sum: vec3f,
  largest: vec3f,
}

fn read_row(row: u32) -> Row {
  var r = Row();
  let first = row * params.response_length;
  for (var i = first; i < first + params.response_length; i++) {
    if (response_mask[i] != 0.0) {
      let log_ratio = log_probs[i] - rollout_log_probs[i];
      let k = divergences(log_ratio);
      r.tokens += 1.0;
      r.log_ratio += log_ratio;
      r.sum += k;
      r.largest = max(r.largest, k);
    }
  }
  return r;
}

// The importance weight of a token before truncation.
fn weight_of(log_ratio: f32, row_log_ratio: f32) -> f32 {
  let x = clamp(select(row_log_ratio, log_ratio, params.rollout_is == PER_TOKEN), -20.0, 20.0);
  return select(exp(x), 1.0, x == 0.0 || params.rollout_is == 0u);
}

// What is left of a weight.
fn applied(weight: f32) -> f32 {
  let within = weight >= params.is_lower && weight <= params.is_threshold;
  return select(min(weight, params.is_threshold), select(0.0, weight, within), params.is_lower > 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  let R = params.response_length;
  let lower = select(1.0 / params.is_threshold, params.is_lower, params.is_lower > 0.0);
  var part = Totals();
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    let r = read_row(row);
    let row_is_kept = keeps_row(r.sum, r.sum / max(r.tokens, 1.0), r.largest);
    for (var i = row * R; i < (row + 1u) * R; i++) {
      var kept = 0.0;
      var truncated = 0.0;
      if (response_mask[i] != 0.0) {
        let log_ratio = log_probs[i] - rollout_log_probs[i];
        kept = select(0.0, 1.0, row_is_kept && keeps_token(divergences(log_ratio)));
        let weight = weight_of(log_ratio, r.log_ratio);
        truncated = select(applied(weight), 1.0, params.rollout_is == 0u);
        part.tokens += vec4f(1.0, -log_ratio, 1.0 - kept, select(weight, truncated, params.is_lower > 0.0));
        let beyond = vec2f(select(0.0, 1.0, weight > params.is_threshold), select(0.0, 1.0, weight < lower));
        part.beyond += vec3f(select(beyond, vec2f(), params.rollout_is == PER_ROW), beyond.x + beyond.y);
        part.weights.y += select(truncated, 0.0, params.rollout_is == PER_ROW);
      }
      modified_mask[i] = kept;
      rollout_is_weights[i] = select(select(0.0, 1.0, response_mask[i] != 0.0), truncated, params.weighs != 0u);
    }
    if (r.tokens > 0.0) {
      part.weights.x += 1.0;
      let weight = weight_of(0.0, r.log_ratio);
      if (params.rollout_is == PER_ROW) {
        part.weights.y += applied(weight);
        part.beyond.x += select(0.0, 1.0, weight > params.is_threshold);
        part.beyond.y += select(0.0, 1.0, weight < lower);
      }
    }
  }

  let total = total_of_all(lane, part);
  let tokens = max(total.tokens.x, 1.0);
  let weight_mean = total.weights.y / select(tokens, max(total.weights.x, 1.0), params.rollout_is == PER_ROW);
  let normalizes = params.rollout_is != 0u && params.batch_normalize != 0u;
  let factor = select(1.0, weight_mean, normalizes && weight_mean > 1e-8);
  if (factor != 1.0 && params.weighs != 0u) {
    for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
      for (var i = row * R; i < (row + 1u) * R; i++) { rollout_is_weights[i] /= factor; }
    }
  }
  if (lane == 0u && total.tokens.x > 0.0) {
    sums[0] += total.tokens.y / tokens;
    sums[1] += total.tokens.z / tokens;
    sums[2] += total.tokens.w / tokens;
    sums[3] += factor;
    let counted = select(tokens, f32(params.rows), params.rollout_is == PER_ROW);
    sums[4] += total.beyond.x / counted;
    sums[5] += total.beyond.y / counted;
    sums[6] += total.beyond.z / tokens;
  }
}
