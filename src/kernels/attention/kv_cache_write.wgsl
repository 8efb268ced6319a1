// cache[first_token + b * stride + t, :] = the k and v parts of qkv[b, t, :]. One lane per element,
// or per two halves.
//   qkv [B, columns, (H + 2K) D]   cache [tokens, 2 K D]
// uses cache_f32.wgsl or cache_f16.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let size = 2u * params.num_key_value_heads * params.head_dim;
  let items = size / PER_CACHED;
  let token = index / items;
  let item = index % items;
  let row = token / params.columns;
  if (row < params.rows) {
    let q_size = params.num_attention_heads * params.head_dim;
    let at = params.first_token + row * params.stride + token % params.columns;
    let source = token * (q_size + size) + q_size + item * PER_CACHED;
    cache[at * items + item] = packed(vec2f(qkv[source], qkv[source + PER_CACHED - 1u]));
  }
}
