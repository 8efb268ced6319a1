// Computes the divergences of pairs of policies, two numbers each, from their sums over the whole
// vocabulary.

/** Σ p ((z - m) - (z' - m')) - (log Σ exp(z - m) - log Σ exp(z' - m')): exactly 0 where p and q are
 * the same bits, also on GPUs that divide by multiplying with a reciprocal, where x / x can be 1 ±
 * 1e-7. Rounding may leave a negative number. */
fn divergence(sum: vec4f, moment: vec4f) -> vec4f {
  let other = sum.yxwz;
  let ratio = select(sum / other, vec4f(1.0), sum == other);
  let kl = moment / sum - log(ratio);
  return select(vec4f(), kl, !(kl < vec4f()));
}
