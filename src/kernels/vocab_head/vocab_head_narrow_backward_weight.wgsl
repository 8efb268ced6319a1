// partials[s] = inv_temperature · d_zᵀ · hidden over the s-th part of the response tokens, for small vocabularies and
// states. One invocation per (part, vocabulary entry) owns its row of partials, in registers, and walks over the
// tokens in order, with z computed again. A line with $ stands for QUADS = C / 4 lines, one per four channels.
//   hidden [B·T, C]   weight [V, C]   response_ids, lse, entropy, d_log_probs, d_entropy [B, R]   partials [splits, V, C]
// uses head_narrow.wgsl

struct Params {
  rows: u32,
  width: u32,
  first_column: u32,
  response_length: u32,
  hidden_size: u32,
  vocab_size: u32,
  inv_temperature: f32,
  splits: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read> response_ids: array<u32>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> entropy: array<f32>;
@group(0) @binding(6) var<storage, read> d_log_probs: array<f32>;
@group(0) @binding(7) var<storage, read> d_entropy: array<f32>;
@group(0) @binding(8) var<storage, read_write> partials: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  if (index >= params.splits * params.vocab_size) { return; }
  let v = index % params.vocab_size;
  let w = v * QUADS;
  let w$ = weight[w + $u];
  let tokens = params.rows * params.response_length;
  let part = (tokens + params.splits - 1u) / params.splits;
  let begin = min(index / params.vocab_size * part, tokens);
  let end = min(begin + part, tokens);

  var sum$ = vec4f();
  for (var token = begin; token < end; token++) {
    let d_log_prob = d_log_probs[token];
    let d_h = d_entropy[token];
    if (d_log_prob != 0.0 || d_h != 0.0) {
      let h = hidden_start(token);
      let is_label = response_ids[token] == v;
      var products = vec4f();
      products = fma(w$, hidden[h + $u], products);
      let z = (products.x + products.y + products.z + products.w) * params.inv_temperature;
      let d_z = d_logit(z, is_label, lse[token], entropy[token], d_log_prob, d_h);
      let d = vec4f(d_z * params.inv_temperature);
      sum$ = fma(d, hidden[h + $u], sum$);
    }
  }
  partials[index * QUADS + $u] = sum$;
}
