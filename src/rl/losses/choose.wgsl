// Chooses the params.select_count tokens with the largest keys, exactly, ties by lowest index;
// fewer where fewer have a key. The includer supplies `key_of(i)`, a u32 per token, 0 = not to be
// chosen. Each lane owns a contiguous run of tokens.
// uses policy_loss_frame.wgsl

var<workgroup> reached: array<atomic<u32>, 33>;
var<workgroup> lane_ties: array<u32, 256>;

/** What a lane needs to walk its tokens: keys above `key` are chosen, and of those equal to it the
 * first `ties`. */
struct Choice {
  key: u32,
  ties: u32,
}

/** First token of a lane, and the one after its last. */
fn tokens_of(lane: u32) -> vec2u {
  let tokens = params.rows * params.response_length;
  let run = (tokens + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
  return min(vec2u(lane, lane + 1u) * run, vec2u(tokens));
}

/** Means of advantages and log_probs over the unmasked tokens of this call. Holds barriers. */
fn means(lane: u32) -> vec2f {
  let range = tokens_of(lane);
  var part = vec3f();
  for (var i = range.x; i < range.y; i++) {
    if (token_weights[i] != 0.0) { part += vec3f(advantages[i], log_probs[i], 1.0); }
  }
  let sum = vec2f(sum_of_lanes(lane, part.x), sum_of_lanes(lane, part.y));
  return sum / max(sum_of_lanes(lane, part.z), 1.0);
}

/** Covariance part of one token: how far its advantage and its log-prob lie on the same side of
 * their means. */
fn covariance(i: u32, mean: vec2f) -> f32 {
  return (advantages[i] - mean.x) * (log_probs[i] - mean.y);
}

/** Finds the key of the last chosen token bit by bit; counts are whole numbers, so atomics do not
 * blur them. Holds barriers. */
fn choose(lane: u32) -> Choice {
  let range = tokens_of(lane);
  var found = 0u;
  for (var bit = 0x80000000u; bit != 0u; bit >>= 1u) {
    let tried = found | bit;
    var count = 0u;
    for (var i = range.x; i < range.y; i++) { count += select(0u, 1u, key_of(i) >= tried); }
    let at = countTrailingZeros(bit);
    atomicAdd(&reached[at], count);
    workgroupBarrier();
    if (atomicLoad(&reached[at]) >= params.select_count) { found = tried; }
  }

  var above = 0u;
  var ties = 0u;
  for (var i = range.x; i < range.y; i++) {
    let key = key_of(i);
    above += select(0u, 1u, key > found);
    ties += select(0u, 1u, key == found && key != 0u);
  }
  atomicAdd(&reached[32], above);
  lane_ties[lane] = ties;
  workgroupBarrier();
  // What the keys above leave of select_count goes to ties of earlier lanes first.
  var left = params.select_count - min(atomicLoad(&reached[32]), params.select_count);
  for (var l = 0u; l < lane; l++) { left -= min(left, lane_ties[l]); }
  return Choice(found, min(left, ties));
}

/** Whether token i is chosen; a lane asks once for each of its tokens, in order. */
fn is_chosen(i: u32, choice: ptr<function, Choice>) -> bool {
  let key = key_of(i);
  if (key == 0u || key < (*choice).key) { return false; }
  if (key > (*choice).key) { return true; }
  if ((*choice).ties == 0u) { return false; }
  (*choice).ties -= 1u;
  return true;
}
