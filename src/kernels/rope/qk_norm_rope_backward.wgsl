// Computes the gradient of out = rotate(x * inv_rms * norm_weight) for q and k heads, of out = x
// for v heads.
//   g = rotate back(d_out)   d_norm = sum over heads of g * x * inv_rms
//   d_x = inv_rms * h - x * inv_rms^3 * mean(h * x),   h = g * norm_weight
// One invocation per token and kind (q, k, v): it walks its heads in order and so sums d_norm
// without atomics.
//   qkv, d_out, d_qkv [tokens, (H + 2K) * D]   norm_weight [2, D]   position_ids [tokens]
//   inv_freq [D/2]
//   d_norm_partials [tokens, 2, D] (q, k), zeros when has_qk_norm is 0
// uses rope_head.wgsl, rope_rotation.wgsl

// The gradient of the pair (i, i + D/2) before its rotation.
fn rotate_back(token: u32, base: u32, i: u32) -> vec2f {
  let r = rotation(token, i);
  let d = vec2f(d_out[base + i], d_out[base + params.head_dim / 2u + i]);
  return vec2f(d.x * r.x + d.y * r.y, d.y * r.x - d.x * r.y);
}

fn unrotate_head(token: u32, base: u32) {
  for (var i = 0u; i < params.head_dim / 2u; i++) {
    let g = rotate_back(token, base, i);
    d_qkv[base + i] = g.x;
    d_qkv[base + params.head_dim / 2u + i] = g.y;
  }
}

// Leaves h = g * norm_weight in d_qkv on the first walk over the head, and finishes d_x on the
// second.
fn norm_head(token: u32, base: u32, weight_base: u32, sums_base: u32) {
  let half_dim = params.head_dim / 2u;
  let inv = head_inv_rms(base);
  var sum = 0.0;
  for (var i = 0u; i < half_dim; i++) {
    let g = rotate_back(token, base, i);
    let x = vec2f(qkv[base + i], qkv[base + half_dim + i]);
    d_norm_partials[sums_base + i] += g.x * x.x * inv;
    d_norm_partials[sums_base + half_dim + i] += g.y * x.y * inv;
    let h = g * vec2f(norm_weight[weight_base + i], norm_weight[weight_base + half_dim + i]);
    d_qkv[base + i] = h.x;
    d_qkv[base + half_dim + i] = h.y;
    sum += dot(h, x);
  }
  let pull = inv * inv * inv * sum / f32(params.head_dim);
  for (var d = 0u; d < params.head_dim; d++) {
    d_qkv[base + d] = inv * d_qkv[base + d] - qkv[base + d] * pull;
  }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.x + group.y * grid.x) * 64u + lane;
  let kind = index / params.tokens; // 0 q, 1 k, 2 v: neighbouring lanes do the same work
  let token = index % params.tokens;
  if (kind > 2u) { return; }
  let h = params.num_attention_heads;
  let k = params.num_key_value_heads;
  let first = select(h + (kind - 1u) * k, 0u, kind == 0u);
  let count = select(k, h, kind == 0u);
  let token_base = token * (h + 2u * k) * params.head_dim;

  let sums_base = (token * 2u + kind) * params.head_dim;
  if (kind < 2u) {
    for (var d = 0u; d < params.head_dim; d++) { d_norm_partials[sums_base + d] = 0.0; }
  }
  for (var head = first; head < first + count; head++) {
    let base = token_base + head * params.head_dim;
    if (kind == 2u) {
      for (var d = 0u; d < params.head_dim; d++) { d_qkv[base + d] = d_out[base + d]; }
    } else if (params.has_qk_norm == 1u) {
      norm_head(token, base, kind * params.head_dim, sums_base);
    } else {
      unrotate_head(token, base);
    }
  }
}
