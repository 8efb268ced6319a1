// Computes the weights w of a mean over response tokens, mean(L) = Σ w L, for each way of
// averaging. loss_weights.ts adds `weight_of(mode, row_tokens, counts)`, where mode is an index in
// LOSS_AGG_MODES. tokens = token_count, or Σ mask where that is 0; sequences = sequence_count, or
// the rows with a token where that is 0. All times `scale`; pg_weights also times
// rollout_is_weights. One workgroup, a lane per row.
//   response_mask, rollout_is_weights, token_weights, loss_weights, pg_weights [rows, R]
// uses workgroup_reduce.wgsl

override WORKGROUP_SIZE: u32 = 256;

struct Counts {
  tokens: f32,
  sequences: f32,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) lane: u32) {
  var own = Counts(0.0, 0.0);
  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    let row_tokens = tokens_of(row);
    own.tokens += row_tokens;
    own.sequences += select(0.0, 1.0, row_tokens > 0.0);
  }
  own.tokens = workgroup_sum(lane, own.tokens);
  own.sequences = workgroup_sum(lane, own.sequences);
  // Without a token every mask is 0, and so is every weight, whatever it is divided by.
  let counts = Counts(
    select(max(own.tokens, 1.0), params.token_count, params.token_count > 0.0),
    select(max(own.sequences, 1.0), params.sequence_count, params.sequence_count > 0.0),
  );

  for (var row = lane; row < params.rows; row += WORKGROUP_SIZE) {
    let row_tokens = max(tokens_of(row), 1.0);
    let loss_weight = weight_of(params.loss_agg_mode, row_tokens, counts);
    let pg_weight = weight_of(params.pg_agg_mode, row_tokens, counts);
    for (var t = 0u; t < params.response_length; t++) {
      let i = row * params.response_length + t;
      let mask = response_mask[i];
      token_weights[i] = mask * (params.scale / counts.tokens);
      loss_weights[i] = mask * loss_weight;
      // Not a product: what masked tokens hold may be NaN.
      pg_weights[i] = select(0.0, mask * pg_weight * rollout_is_weights[i], mask != 0.0);
    }
  }
}

fn tokens_of(row: u32) -> f32 {
  var tokens = 0.0;
  for (var t = 0u; t < params.response_length; t++) { tokens += response_mask[row * params.response_length + t]; }
  return tokens;
}
