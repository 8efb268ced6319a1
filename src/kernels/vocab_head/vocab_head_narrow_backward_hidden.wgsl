// d_hidden = inv_temperature · d_z · weight for small vocabularies and states. One invocation per response token owns
// its row of d_hidden, in registers, and computes each logit again. A token without gradient gets 0.
// A line with $ stands for QUADS = C / 4 lines, one per four channels.
//   hidden, d_hidden [B·T, C]   weight [V, C]   response_ids, lse, entropy, d_log_probs, d_entropy [B, R]
// uses head_narrow.wgsl

struct Params {
  rows: u32,
  width: u32,
  first_column: u32,
  response_length: u32,
  hidden_size: u32,
  vocab_size: u32,
  inv_temperature: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read> response_ids: array<u32>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> entropy: array<f32>;
@group(0) @binding(6) var<storage, read> d_log_probs: array<f32>;
@group(0) @binding(7) var<storage, read> d_entropy: array<f32>;
@group(0) @binding(8) var<storage, read_write> d_hidden: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let token = (group.x + group.y * grid.x) * 64u + lane;
  if (token >= params.rows * params.response_length) { return; }
  let h = hidden_start(token);
  let h$ = hidden[h + $u];
  let id = response_ids[token];
  let log_sum_exp = lse[token];
  let token_entropy = entropy[token];
  let d_log_prob = d_log_probs[token];
  let d_h = d_entropy[token];

  var sum$ = vec4f();
  if (d_log_prob != 0.0 || d_h != 0.0) {
    for (var v = 0u; v < params.vocab_size; v++) {
      let w = v * QUADS;
      var products = vec4f();
      products = fma(h$, weight[w + $u], products);
      let z = (products.x + products.y + products.z + products.w) * params.inv_temperature;
      let d_z = d_logit(z, v == id, log_sum_exp, token_entropy, d_log_prob, d_h);
      let d = vec4f(d_z * params.inv_temperature);
      sum$ = fma(d, weight[w + $u], sum$);
    }
  }
  d_hidden[h + $u] = sum$;
}
