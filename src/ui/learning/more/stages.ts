// Says in plain words what the stages of a step are; the names are verl's.

export const STAGES: Readonly<Record<string, string>> = {
  sft: 'warm start',
  gen: 'sampling',
  old_log_prob: 'old policy',
  ref: 'reference',
  values: 'critic reads',
  update_critic: 'critic learns',
  update_actor: 'policy learns',
  trace: 'token table',
  probe: 'layer entropies',
  testing: 'validation',
  observe_entropy: 'shown: entropies',
  observe_flow: 'shown: entropy flow',
  observe_cosines: 'shown: cosines',
  observe_similarity: 'shown: similarity',
  observe_lens: 'shown: lens',
  other: 'clearing sums',
}

/** Stages of a step that a profile of the GPU does not have. */
export const OTHER_STAGES: Readonly<Record<string, string>> = {
  reward: 'scoring',
  adv: 'advantages',
  update_reward_model: 'reward model learns',
}
