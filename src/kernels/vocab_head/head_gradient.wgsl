// d z_j = d_log_prob · (1[j = y] - p_j) - d_entropy · p_j (log p_j + H), with p_j = exp(z_j - lse).
// A token without gradient gives exactly 0, whatever its state: a masked one has lse 0, and exp(z)
// may overflow.

fn d_logits(
  z: vec4f, is_label: vec4<bool>, lse: vec4f, entropy: vec4f, d_log_prob: vec4f, d_entropy: vec4f,
) -> vec4f {
  let is_moved = (d_log_prob != vec4f()) | (d_entropy != vec4f());
  let log_p = select(vec4f(), z - lse, is_moved);
  let p = exp(log_p);
  let one_hot = select(vec4f(), vec4f(1.0), is_label);
  return d_log_prob * (one_hot - p) - d_entropy * p * (log_p + entropy);
}
