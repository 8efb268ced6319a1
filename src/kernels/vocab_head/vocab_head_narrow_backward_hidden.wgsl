// d_hidden = inv_temperature · d_z · weight for small vocabularies and states. One invocation per
// token of the list and half of the channels owns its half of a row of d_hidden, in registers, and
// computes each logit again. Small states have one half. A scored token without gradient gets 0. A
// line with ^ stands for one per half, one with $ for QUADS lines, one per four channels.
//   hidden, d_hidden [states, C]   weight [V, C]   scored [S, 4]
//   lse, entropy, d_log_probs, d_entropy [B, R]
// uses head_narrow.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let block = group.x + group.y * grid.x;
  let half = block % HALVES;
  let entry = block / HALVES * 64u + lane;
  if (entry >= params.tokens) { return; }
  let token = scored[entry];
  if (token.w == 0u) { return; }
  let h = token.x;
  let h^_$ = hidden[h][^][$];
  let id = token.z - params.first_id;
  let log_sum_exp = lse[token.y];
  let token_entropy = entropy[token.y];
  let d_log_prob = d_log_probs[token.y];
  let d_h = d_entropy[token.y];

  var sum$ = vec4f();
  if (d_log_prob != 0.0 || d_h != 0.0) {
    for (var v = 0u; v < params.vocab_size; v++) {
      let w^_$ = weight[v][^][$];
      var products = vec4f();
      products = fma(h^_$, w^_$, products);
      let z = (products.x + products.y + products.z + products.w) * params.inv_temperature;
      let d_z = d_logit(z, v == id, log_sum_exp, token_entropy, d_log_prob, d_h);
      let d = vec4f(d_z * params.inv_temperature);
      sum$ = fma(d, select(w0_$, wUPPER_$, half > 0u), sum$);
    }
  }
  if (params.first_id > 0u) { sum$ += d_hidden[h][half][$]; }
  d_hidden[h][half][$] = sum$;
}
