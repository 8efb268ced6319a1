import { aggregation } from './aggregation.ts'

/** Nothing is divided: mask · ranks, because gradients are averaged over the ranks afterwards. */
export const token_sum = aggregation({
  name: 'token-sum',
  label: 'sum over tokens',
  weight_of: 'return params.scale * params.ranks;',
  weight: ({ ranks }) => ranks,
})
