// d_v_j = sum p_ij d_out_i and d_k_j = scale sum p_ij d_out_i . (v_j - out_i) q_i, over i >= j and
// the group's query heads, in that fixed order, for short rows and small heads. One invocation per
// (row, column, key/value head). A line with $ stands for VECTORS = head_dim / 4 lines, one per
// vector of a head.
// Row b owns tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1 of the M in the stream.
//   qkv, d_qkv [M, (H + 2K) D]   attention_mask [M]   cu_seqlens [B + 1]   out, d_out [M, H D]
//   lse [M, H]

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let heads = params.num_attention_heads;
  let kv_heads = params.num_key_value_heads;
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let kv_head = index % kv_heads;
  let row = index / kv_heads / params.width;
  if (row >= params.rows) { return; }
  let row_end = cu_seqlens[row + 1u];
  let token = cu_seqlens[row] + index / kv_heads % params.width;
  if (token >= row_end) { return; }
  let token_size = heads + 2u * kv_heads;
  let k = token * token_size + heads + kv_head;
  let v = k + kv_heads;

  let k$ = qkv[k][$];
  let v$ = qkv[v][$];
  var d_k$ = vec4f();
  var d_v$ = vec4f();
  let scale = params.scale;
  let group_size = heads / kv_heads;
  let query_end = select(token, row_end, attention_mask[token] != 0u);
  for (var head = kv_head * group_size; head < (kv_head + 1u) * group_size; head++) {
    var q = token * token_size + head;
    var i = token * heads + head;
    for (var query = token; query < query_end; query++) {
      // Read before it is known whether they are masked: a query costs one wait for memory.
      let q$ = qkv[q][$];
      let g$ = d_out[i][$];
      let o$ = out[i][$];
      let query_lse = lse[i];
      q += token_size;
      i += heads;
      if (attention_mask[query] != 0u) {
        var qk = vec4f();
        var gv = vec4f();
        qk = fma(q$, k$, qk);
        gv = fma(g$, v$ - o$, gv);
        let prob = exp((qk.x + qk.y + qk.z + qk.w) * scale - query_lse);
        let d_score = vec4f(prob * (gv.x + gv.y + gv.z + gv.w));
        d_k$ = fma(d_score, q$, d_k$);
        d_v$ = fma(vec4f(prob), g$, d_v$);
      }
    }
  }
  d_qkv[k][$] = scale * d_k$;
  d_qkv[v][$] = d_v$;
}
