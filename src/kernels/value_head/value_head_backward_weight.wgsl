// d_weight[c] += Σ d_values[slot] · hidden[state, c];
// d_bias += Σ d_values[slot], over the scored entries of the list of tokens.
// One workgroup per 16 columns; the bias is column C, of a hidden state that is 1. Lane l takes
// column l % 16 and the entries l / 16, l / 16 + 16, …; then one lane per column adds up sixteen
// sums in order. Tokens with d_values 0 are skipped.
//   hidden [states, C]   d_values [B, R]   scored [S, 4]   d_weight [1, C]   d_bias [1]

override WORKGROUP_SIZE: u32 = 256;
const COLUMNS: u32 = 16;
const PARTS: u32 = 16;

var<workgroup> lane_sums: array<f32, 256>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let c = (group.x + group.y * grid.x) * COLUMNS + lane % COLUMNS;
  let column = min(c, params.hidden_size - 1u);
  let is_bias = c == params.hidden_size;
  var sum = 0.0;
  for (var entry = lane / COLUMNS; entry < params.tokens; entry += PARTS) {
    let token = scored[entry];
    if (token.w == 0u) { continue; }
    let d = d_values[token.y];
    if (d != 0.0) { sum += d * select(hidden[token.x * params.hidden_size + column], 1.0, is_bias); }
  }
  lane_sums[lane] = sum;
  workgroupBarrier();
  if (lane < COLUMNS && c <= params.hidden_size) {
    for (var part = 1u; part < PARTS; part++) { sum += lane_sums[part * COLUMNS + lane]; }
    if (is_bias) { d_bias[0] += sum; } else { d_weight[c] += sum; }
  }
}
