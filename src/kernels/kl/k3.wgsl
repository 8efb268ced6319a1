// e^x - 1 - x, Schulman's k3 estimate of a KL divergence at the log ratio x. Near 0 the three terms
// cancel, so it is summed as x²/2 · (1 + x/3 (1 + x/4 (…))) there; for |x| below 1/2 what is left
// out is under 1e-7 of the value.

fn k3(x: f32) -> f32 {
  var series = 1.0;
  for (var n = 9.0; n > 2.0; n -= 1.0) { series = 1.0 + x / n * series; }
  return select(exp(x) - 1.0 - x, 0.5 * x * x * series, abs(x) < 0.5);
}
