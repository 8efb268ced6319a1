// Holds what the forward and backward kernels share. The includer declares params, qkv,
// norm_weight.
// uses rope_rotation.wgsl

// 1 / sqrt(mean of the squares of the head that starts at `base` + eps).
fn head_inv_rms(base: u32) -> f32 {
  var sum = 0.0;
  for (var d = 0u; d < params.head_dim; d++) { sum += qkv[base + d] * qkv[base + d]; }
  return 1.0 / sqrt(sum / f32(params.head_dim) + params.eps);
}
