// partials[s] = inv_temperature · d_zᵀ · hidden over the s-th part of the list of tokens, for small
// vocabularies and states. One invocation per (part, vocabulary entry, half of the channels) owns
// its half of a row of partials, in registers, and walks over the tokens in order, with z computed
// again. Small states have one half. A line with ^ stands for one per half, one with $ for QUADS
// lines, one per four channels of a half.
//   hidden [states, C]   weight [V, C]   scored [S, 4]
//   lse, entropy, d_log_probs, d_entropy [B, R]   partials [splits, V, C]
// uses head_narrow.wgsl

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let block = group.x + group.y * grid.x;
  let half = block % HALVES;
  let index = block / HALVES * 64u + lane;
  if (index >= params.splits * params.vocab_size) { return; }
  let v = index % params.vocab_size;
  let w^_$ = weight[v][^][$];
  let part = (params.tokens + params.splits - 1u) / params.splits;
  let begin = min(index / params.vocab_size * part, params.tokens);
  let end = min(begin + part, params.tokens);

  var sum$ = vec4f();
  for (var entry = begin; entry < end; entry++) {
    let token = scored[entry];
    if (token.w == 0u) { continue; }
    let d_log_prob = d_log_probs[token.y];
    let d_h = d_entropy[token.y];
    if (d_log_prob != 0.0 || d_h != 0.0) {
      let h = token.x;
      let is_label = token.z - params.first_id == v;
      var products = vec4f();
      products = fma(w^_$, hidden[h][^][$], products);
      let z = (products.x + products.y + products.z + products.w) * params.inv_temperature;
      let d_z = d_logit(z, is_label, lse[token.y], entropy[token.y], d_log_prob, d_h);
      let d = vec4f(d_z * params.inv_temperature);
      // Read again: not kept since the product, for want of registers.
      sum$ = fma(d, hidden[h][half][$], sum$);
    }
  }
  partials[index][half][$] = sum$;
}
