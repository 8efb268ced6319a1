// Adds one key's part inside the loop of attention_narrow_backward_query.wgsl to one of two halves
// of a head.

    // Before it is known whether the key is masked, and values first, as only k is kept: few
    // registers and waits for memory.
    let mask = attention_mask[key];
    var gv = gv_start;
    gv = plus(gv, g^_$, qkv[k + kv_heads][^][$]);
    let k^_$ = qkv[k][^][$];
    var qk = qk_start;
    qk = plus(qk, q^_$, k^_$);
    k += token_size;
    if (mask != 0u) {
      let d_score = vec4f(exp2(qk.x + qk.y) * (gv.x + gv.y));
      // One way for a whole workgroup.
      if (half == 0u) {
        d_q$ = fma(d_score, k0_$, d_q$);
      } else {
        d_q$ = fma(d_score, k1_$, d_q$);
      }
    }
