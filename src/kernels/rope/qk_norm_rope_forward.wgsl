// q and k heads: out = rotate(x * inv_rms * norm_weight), without the norm when has_qk_norm is 0; v
// heads: out = x. rotate turns the pairs (i, i + D/2) by the angle position * inv_freq[i]. One
// invocation per head of a token.
//   qkv, out [tokens, (H + 2K) * D] (H q heads, K k heads, K v heads)   norm_weight [2, D] (q, k)
//   position_ids [tokens]   inv_freq [D/2]
// uses rope_head.wgsl, rope_rotation.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let heads = params.num_attention_heads + 2u * params.num_key_value_heads;
  if (index >= params.tokens * heads) { return; }
  let token = index / heads;
  let head = index % heads;
  let base = index * params.head_dim;

  if (head >= params.num_attention_heads + params.num_key_value_heads) {
    for (var d = 0u; d < params.head_dim; d++) { out[base + d] = qkv[base + d]; }
    return;
  }
  let has_norm = params.has_qk_norm == 1u;
  let weight_base = select(0u, params.head_dim, head >= params.num_attention_heads);
  let half_dim = params.head_dim / 2u;
  var inv = 1.0;
  if (has_norm) { inv = head_inv_rms(base); }
  for (var i = 0u; i < half_dim; i++) {
    var x = vec2f(qkv[base + i], qkv[base + half_dim + i]) * inv;
    if (has_norm) { x *= vec2f(norm_weight[weight_base + i], norm_weight[weight_base + half_dim + i]); }
    let r = rotation(token, i);
    out[base + i] = x.x * r.x - x.y * r.y;
    out[base + half_dim + i] = x.y * r.x + x.x * r.y;
  }
}
