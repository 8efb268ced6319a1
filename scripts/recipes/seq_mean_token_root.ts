// Averages between the two means over responses: every response counts by the root of its length.
import { aggregation } from './aggregation.ts'

export const seq_mean_token_root = aggregation({
  name: 'seq-mean-token-root',
  label: 'mean over responses of their token sums over the root of their length',
  weight_of: 'return params.scale / (counts.sequences * sqrt(row_tokens));',
  weight: ({ row_tokens, sequences }) => 1 / (Math.sqrt(row_tokens) * sequences),
})
