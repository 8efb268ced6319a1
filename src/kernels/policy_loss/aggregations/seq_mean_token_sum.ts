// Counts every response by its length: mask / sequences.
import { aggregation } from './aggregation.ts'

export const seq_mean_token_sum = aggregation({
  name: 'seq-mean-token-sum',
  label: 'mean over responses of their token sums (TRL: luspo)',
  weight_of: 'return params.scale / counts.sequences;',
  dividesBy: 'sequences',
  weight: ({ sequences }) => 1 / sequences,
})
