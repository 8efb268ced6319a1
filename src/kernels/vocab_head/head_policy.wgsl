// Computes a token's log-prob and entropy from the softmax's sums over the whole vocabulary.

struct Policy {
  log_prob: f32,
  entropy: f32,
  lse: f32,
  sum_pi_squared: f32,
}

fn policy_of(top: f32, sum: f32, moment: f32, squares: f32, label: f32) -> Policy {
  let log_sum = log(sum);
  return Policy(label - top - log_sum, log_sum - moment / sum, top + log_sum, squares / (sum * sum));
}
