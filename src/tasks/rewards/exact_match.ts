// Compares with the right answer, character by character.
import type { RewardKind } from './reward.ts'

/** 1 where the response is the right answer, else 0. */
export const exact_match: RewardKind = {
  id: 'exact_match',
  label: 'Exact match',
  help: 'The response is the right answer, character by character.',
  params: [],
  is_verifier: true,
  create:
    () =>
    ({ solution_str, ground_truth }) =>
      solution_str === ground_truth ? 1 : 0,
}
