// Divides by nothing: mask · ranks, because gradients are averaged over the ranks afterwards.
import { aggregation } from './aggregation.ts'

export const token_sum = aggregation({
  name: 'token-sum',
  label: 'sum over tokens',
  weight_of: 'return params.scale * params.ranks;',
  weight: ({ ranks }) => ranks,
})
