// Counts every response the same: mask / (tokens of the row · sequences); verl's n + 1e-8 is n in
// f32.
import { aggregation } from './aggregation.ts'

export const seq_mean_token_mean = aggregation({
  name: 'seq-mean-token-mean',
  label: 'mean over responses of their token means (TRL: grpo)',
  weight_of: 'return params.scale / (counts.sequences * row_tokens);',
  dividesBy: 'sequences',
  weight: ({ row_tokens, sequences }) => 1 / (row_tokens + 1e-8) / sequences,
})
