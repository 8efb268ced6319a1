// values[slot] = hidden[state, :] · weight + bias for each entry of the list of tokens; 0 where
// is_scored is 0. Rows of at most NARROW columns: one invocation per token. Wider rows: one
// workgroup per token, lanes stride over columns.
//   hidden [states, C]   weight [1, C]   bias [1]   scored [S, 4]   values [B, R]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 64;
override NARROW: u32;

/** 0 for a token with is_scored 0, whose state is not read. */
fn dot_with_weight(token: vec4u, first: u32, stride: u32) -> f32 {
  if (token.w == 0u) { return 0.0; }
  let start = token.x * params.hidden_size;
  var sum = 0.0;
  for (var c = first; c < params.hidden_size; c += stride) { sum += hidden[start + c] * weight[c]; }
  return sum;
}

fn store(token: vec4u, sum: f32) {
  values[token.y] = select(0.0, sum + bias[0], token.w != 0u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.x + group.y * grid.x;
  if (params.hidden_size <= NARROW) {
    let entry = index * WORKGROUP_SIZE + lane;
    if (entry < params.tokens) {
      let token = scored[entry];
      store(token, dot_with_weight(token, 0u, 1u));
    }
  } else if (index < params.tokens) {
    let token = scored[index];
    let sum = workgroup_sum(lane, dot_with_weight(token, lane, WORKGROUP_SIZE));
    if (lane == 0u) { store(token, sum); }
  }
}
