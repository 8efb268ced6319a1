// What the forward and backward kernels share. The includer declares params, qkv, norm_weight, position_ids, inv_freq.

// cos and sin of position * inv_freq[i].
fn rotation(token: u32, i: u32) -> vec2f {
  let angle = f32(position_ids[token]) * inv_freq[i];
  // WGSL bounds the error of cos and sin only within one turn. 2 pi = 6.28125 + 0.0019353..., and the
  // first part has so few bits that its product with the number of turns is exact.
  let turns = round(angle * 0.15915494);
  let rest = (angle - turns * 6.28125) - turns * 0.0019353072;
  return vec2f(cos(rest), sin(rest));
}

// 1 / sqrt(mean of the squares of the head that starts at `base` + eps).
fn head_inv_rms(base: u32) -> f32 {
  var sum = 0.0;
  for (var d = 0u; d < params.head_dim; d++) { sum += qkv[base + d] * qkv[base + d]; }
  return 1.0 / sqrt(sum / f32(params.head_dim) + params.eps);
}
