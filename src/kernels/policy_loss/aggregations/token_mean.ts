// Counts every token the same: mask / tokens.
import { aggregation } from './aggregation.ts'

export const token_mean = aggregation({
  name: 'token-mean',
  label: 'mean over tokens (TRL: dapo, bnpo)',
  weight_of: 'return params.scale / counts.tokens;',
  dividesBy: 'tokens',
  weight: ({ tokens }) => 1 / tokens,
})
