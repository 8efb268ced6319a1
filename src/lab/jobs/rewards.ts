// What scores responses in Python: reward.py of a job. outside.test.ts holds each to its task's own score.
import exact_match from './templates/reward_exact_match.py?raw'

/** The source of reward.py by the id of a task. */
export const REWARDS: Readonly<Record<string, string>> = {
  two_skills_addition: exact_match,
  partial_sft_addition: exact_match,
  reverse_digits: exact_match,
  sort_digits: exact_match,
  bracket_completion: exact_match,
}
