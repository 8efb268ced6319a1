// Adds one key's part inside the loop of attention_narrow_backward_query.wgsl, for heads in one
// piece.

    // Read before it is known whether they are masked: a key costs one wait for memory.
    let k$ = qkv[k][$];
    let v$ = qkv[k + kv_heads][$];
    k += token_size;
    if (attention_mask[key] != 0u) {
      var qk = qk_start;
      qk = plus(qk, q0_$, k$);
      var gv = gv_start;
      gv = plus(gv, g0_$, v$);
      let d_score = vec4f(exp2(qk.x + qk.y) * (gv.x + gv.y));
      d_q$ = fma(d_score, k$, d_q$);
    }
