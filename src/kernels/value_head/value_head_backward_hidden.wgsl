// d_hidden[state, c] = d_values[slot] · weight[c] for each scored entry of the list of tokens. One
// invocation per element of a token's row; tokens with is_scored 0 have none.
//   d_values [B, R]   weight [1, C]   scored [S, 4]   d_hidden [states, C]

override WORKGROUP_SIZE: u32 = 64;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = (group.x + group.y * grid.x) * WORKGROUP_SIZE + lane;
  let entry = i / params.hidden_size;
  if (entry >= params.tokens) { return; }
  let token = scored[entry];
  if (token.w == 0u) { return; }
  let c = i - entry * params.hidden_size;
  d_hidden[token.x * params.hidden_size + c] = d_values[token.y] * weight[c];
}
