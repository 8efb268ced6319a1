// Averages as Dr. GRPO does, as verl had it up to 0.7.0: mask / loss_scale_factor, whatever the
// counts.
import { aggregation } from './aggregation.ts'

export const seq_mean_token_sum_norm = aggregation({
  name: 'seq-mean-token-sum-norm',
  label: 'token sums over a constant (verl up to 0.7.0)',
  weight_of: `let width = f32(params.response_length);
      return params.scale / select(width, params.loss_scale_factor, params.loss_scale_factor > 0.0);`,
  usesScaleFactor: true,
  weight: ({ loss_scale_factor, response_length }) => 1 / (loss_scale_factor ?? response_length),
})
