// Finds the K likeliest entries of each row of logits and their probabilities under its softmax.
// One workgroup per row: each lane keeps the K best of its entries, in order, and K times the best
// of all lanes is taken.
//   logits [rows, V]   ids, probs [rows, K]

const WORKGROUP_SIZE = 64u;
const K = 5u;
const MOST_NEGATIVE = -0x1.fffffep+127f;
const NO_ID = 0xffffffffu;

var<workgroup> lane_logits: array<f32, WORKGROUP_SIZE>;
var<workgroup> lane_ids: array<u32, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.x + group.y * grid.x;
  let row = min(index, params.rows - 1u);
  let base = row * params.vocab_size;

  // Largest first; of equal ones that with the smaller id, which a lane meets first.
  var best: array<f32, K>;
  var best_ids: array<u32, K>;
  for (var k = 0u; k < K; k++) {
    best[k] = MOST_NEGATIVE;
    best_ids[k] = NO_ID;
  }
  for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) {
    let logit = logits[base + v];
    if (logit > best[K - 1u] || (best_ids[K - 1u] == NO_ID && logit >= MOST_NEGATIVE)) {
      var at = K - 1u;
      while (at > 0u && (logit > best[at - 1u] || best_ids[at - 1u] == NO_ID)) {
        best[at] = best[at - 1u];
        best_ids[at] = best_ids[at - 1u];
        at--;
      }
      best[at] = logit;
      best_ids[at] = v;
    }
  }

  // Every lane walks over all lanes' next entries in the same order, so all agree on the winner.
  var taken = 0u;
  var won: array<f32, K>;
  var won_ids: array<u32, K>;
  for (var k = 0u; k < K; k++) {
    workgroupBarrier();
    lane_logits[lane] = MOST_NEGATIVE;
    lane_ids[lane] = NO_ID;
    if (taken < K) {
      lane_logits[lane] = best[taken];
      lane_ids[lane] = best_ids[taken];
    }
    workgroupBarrier();
    var winner = 0u;
    for (var l = 1u; l < WORKGROUP_SIZE; l++) {
      let is_larger = lane_logits[l] > lane_logits[winner];
      let is_first = lane_logits[l] == lane_logits[winner] && lane_ids[l] < lane_ids[winner];
      if (is_larger || is_first) { winner = l; }
    }
    won[k] = lane_logits[winner];
    won_ids[k] = lane_ids[winner];
    if (lane == winner) { taken++; }
  }

  var lane_sum = 0.0;
  for (var v = lane; v < params.vocab_size; v += WORKGROUP_SIZE) { lane_sum += exp(logits[base + v] - won[0]); }
  workgroupBarrier();
  lane_logits[lane] = lane_sum;
  workgroupBarrier();
  if (lane != 0u || index >= params.rows) { return; }
  var sum = 0.0;
  for (var l = 0u; l < WORKGROUP_SIZE; l++) { sum += lane_logits[l]; }
  for (var k = 0u; k < K; k++) {
    ids[row * K + k] = won_ids[k];
    probs[row * K + k] = exp(won[k] - won[0]) / sum;
  }
}
