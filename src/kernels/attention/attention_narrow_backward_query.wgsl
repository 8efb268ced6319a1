// d_q_i = scale sum over j <= i of p_ij d_out_i . (v_j - out_i) k_j, with p_ij = exp(scale q_i .
// k_j - lse_i), for short rows and small heads. One invocation per (row, column, head, half of its
// channels), keys in a plain loop. Small heads have one half. A line with ^ stands for one per
// half, one with $ for VECTORS lines, one per vector of a half. Row b owns tokens cu_seqlens[b] ..
// cu_seqlens[b + 1] - 1 of the M in the stream.
//   qkv, d_qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out, d_out [M, H D]
//   lse [M, H]
// uses attention_narrow_products.wgsl, attention_narrow_query.wgsl,
// attention_narrow_query_key.wgsl or attention_narrow_query_key_halves.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let columns = params.width;
  #narrow_query
  let token = first_token + place;
  if (token >= row_end) { return; }
  let q = token * token_size + head;
  let o = token * heads + head;
  let scale = params.scale;
  var k = first_token * token_size + heads + head / (heads / kv_heads);

  let q^_$ = scale * LOG2_E * qkv[q][^][$];
  let g^_$ = d_out[o][^][$];
  var d_q$ = vec4f();
  var deltas = vec4f();
  deltas = fma(g^_$, out[o][^][$], deltas);
  let delta = deltas.x + deltas.y + deltas.z + deltas.w;
  // Half of what is taken from each product of vectors.
  let qk_start = vec2f(-0.5 * LOG2_E * lse[o]);
  let gv_start = vec2f(-0.5 * delta);
  let key_end = select(first_token, token + 1u, attention_mask[token] != 0u);
  for (var key = first_token; key < key_end; key++) {
    #narrow_query_key
  }
  d_qkv[q][half][$] = scale * d_q$;
}
