// Declares seq-mean-token-sum-norm as in verl since 0.7.1 and in TRL (dr_grpo): mask /
// (loss_scale_factor · sequences).
import { aggregation } from './aggregation.ts'

export const seq_mean_token_sum_norm_0_7_1 = aggregation({
  name: 'seq-mean-token-sum-norm-0.7.1',
  label: 'token sums over a constant, mean over responses (verl 0.7.1 and later; TRL: dr_grpo)',
  weight_of: `let width = f32(params.response_length);
      let factor = select(width, params.loss_scale_factor, params.loss_scale_factor > 0.0);
      return params.scale / (counts.sequences * factor);`,
  usesScaleFactor: true,
  dividesBy: 'sequences',
  weight: ({ sequences, loss_scale_factor, response_length }) =>
    1 / sequences / (loss_scale_factor ?? response_length),
})
