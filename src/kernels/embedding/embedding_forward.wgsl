// out[t, c] = weight[input_ids[t] - first_id, c] where the weight has that row; other elements
// stay. One lane per element.
//   input_ids [tokens]   weight [ids, C]   out [tokens, C]
// uses weight_f32.wgsl or weight_bf16.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let token = index / params.hidden_size;
  if (token < params.tokens) {
    let row = input_ids[token] - params.first_id;
    if (row < params.ids) { out[index] = weight_at(row * params.hidden_size + index % params.hidden_size); }
  }
}
