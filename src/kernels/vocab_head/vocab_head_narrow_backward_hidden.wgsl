// d_hidden = inv_temperature · d_z · weight for small vocabularies and states. One invocation per
// token of the list and half of the channels owns its half of a row of d_hidden, in registers, and
// computes each logit again. Small states have one half. A scored token without gradient gets 0. A
// line with ^ stands for one per half, one with $ for QUADS lines, one per four channels.
//   hidden, d_hidden [states, C]   weight [V, C]   scored [S, 4]
//   lse, entropy, d_log_probs, d_entropy [B, R]
// uses head_narrow.wgsl

struct Params {
  tokens: u32,
  hidden_size: u32,
  vocab_size: u32,
  inv_temperature: f32,
  first_id: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<array<array<vec4f, QUADS>, HALVES>>;
@group(0) @binding(2) var<storage, read> weight: array<array<array<vec4f, QUADS>, HALVES>>;
@group(0) @binding(3) var<storage, read> scored: array<vec4u>; // state, slot, id, is_scored
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> entropy: array<f32>;
@group(0) @binding(6) var<storage, read> d_log_probs: array<f32>;
@group(0) @binding(7) var<storage, read> d_entropy: array<f32>;
@group(0) @binding(8) var<storage, read_write> d_hidden: array<array<array<vec4f, QUADS>, HALVES>>;

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
