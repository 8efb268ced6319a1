// Computes what one entry of the vocabulary adds to a divergence of the student's policy S from the
// teacher's T, of four tokens: beta 0 = forward KL, 1 = reverse KL, else the generalized
// Jensen-Shannon divergence. All of it follows from d = log T - log S, so equal policies give 0.

/** What the exponent of a difference of log-probs is held to; beyond it one of them is 0. */
const MOST_DIFFERENCE = 80.0;

struct Terms {
  /** Of the divergence itself. */
  loss: vec4f,
  /** S times the slope by log S that does not cancel; its sum is `mean`. */
  slope: vec4f,
}

/** log(M / S) with M = (1 - beta) S + beta T. */
fn log_mixture(d: vec4f) -> vec4f { return log(vec4f(1.0 - params.beta) + params.beta * exp(d)); }

fn terms_of(log_s: vec4f, log_t: vec4f) -> Terms {
  let d = log_t - log_s;
  let s = exp(log_s);
  let t = exp(log_t);
  if (params.beta == 0.0) { return Terms(t * d, s - t); }
  if (params.beta == 1.0) { return Terms(-s * d, -s * d); }
  let held = clamp(d, vec4f(-MOST_DIFFERENCE), vec4f(MOST_DIFFERENCE));
  let m = log_mixture(held);
  let own = -(1.0 - params.beta) * s * m;
  return Terms(own + params.beta * t * (held - m), own);
}

/** The divergence's gradient by the logits: by the student's log-probs, less its share of their
 * sum. At beta 0 nothing is left to take away. */
fn d_logits(log_s: vec4f, log_t: vec4f, mean: vec4f) -> vec4f {
  let slope = terms_of(log_s, log_t).slope;
  if (params.beta == 0.0) { return slope; }
  return slope - exp(log_s) * mean;
}
