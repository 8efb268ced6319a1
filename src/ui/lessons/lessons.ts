// Lists every lesson, in the order in which they build on each other.
import type { Lesson } from './base/lesson.ts'

export const LESSONS: readonly Lesson[] = [
  {
    id: 'policy-and-reward',
    title: 'What a policy and a reward are',
    says: 'A model that writes is a policy; a program that scores its text is a reward.',
    minutes: 6,
    load: async () => (await import('./texts/policy_and_reward.tsx')).lesson,
  },
  {
    id: 'sft-against-rl',
    title: 'Imitation against reinforcement',
    says: 'Why a model can end up better than the demonstrations it was shown.',
    minutes: 7,
    load: async () => (await import('./texts/sft_against_rl.tsx')).lesson,
  },
  {
    id: 'grpo-by-hand',
    title: 'GRPO by hand, on one group',
    says: 'Eight responses to one prompt, and what each of them is worth.',
    minutes: 8,
    load: async () => (await import('./texts/grpo_by_hand.tsx')).lesson,
  },
  {
    id: 'ppo',
    title: 'PPO: critic, GAE and clip',
    says: 'A second network says what to expect, token by token.',
    minutes: 10,
    load: async () => (await import('./texts/ppo.tsx')).lesson,
  },
  {
    id: 'old-log-probs',
    title: 'Three ways to get old log-probs',
    says: 'Compute them again, take those of the sampler, or correct for the difference.',
    minutes: 7,
    load: async () => (await import('./texts/old_log_probs.tsx')).lesson,
  },
  {
    id: 'stale-samples',
    title: 'Stale samples',
    says: 'Train on what an older policy wrote, and weigh it.',
    minutes: 7,
    load: async () => (await import('./texts/stale_samples.tsx')).lesson,
  },
  {
    id: 'kl',
    title: 'KL in the reward and in the loss',
    says: 'Two leashes to the policy that reinforcement began with.',
    minutes: 7,
    load: async () => (await import('./texts/kl.tsx')).lesson,
  },
  {
    id: 'rlhf',
    title: 'Reward models and RLHF, with your clicks',
    says: 'You are the reward, and then you are hacked.',
    minutes: 10,
    load: async () => (await import('./texts/rlhf.tsx')).lesson,
  },
  {
    id: 'preferences',
    title: 'Preferences without a reward model',
    says: 'DPO and its kin: the policy’s own log ratio is the reward.',
    minutes: 9,
    load: async () => (await import('./texts/preferences.tsx')).lesson,
  },
  {
    id: 'teacher',
    title: 'A teacher for your own samples',
    says: 'A larger model says what it makes of every token that the student wrote.',
    minutes: 8,
    load: async () => (await import('./texts/teacher.tsx')).lesson,
  },
  {
    id: 'dapo',
    title: 'The four parts of DAPO',
    says: 'Clip higher, sample until groups differ, count tokens, soften the length limit.',
    minutes: 7,
    load: async () => (await import('./texts/dapo.tsx')).lesson,
  },
  {
    id: 'layer-policies',
    title: 'Every layer has a policy',
    says: 'Read the model below its top, with and without the last norm.',
    minutes: 7,
    load: async () => (await import('./texts/layer_policies.tsx')).lesson,
  },
  {
    id: 'bupo',
    title: 'BuPO’s two phases, and the evidence',
    says: 'Train an inner policy first. What the paper reports, and what we measured.',
    minutes: 9,
    load: async () => (await import('./texts/bupo.tsx')).lesson,
  },
  {
    id: 'entropy',
    title: 'Reading entropy',
    says: 'What a falling line means, and when it is a warning.',
    minutes: 7,
    load: async () => (await import('./texts/entropy.tsx')).lesson,
  },
  {
    id: 'inner-policy',
    title: 'Is an inner policy a policy?',
    says: 'No token is drawn from it. Read it otherwise, change it, train it.',
    minutes: 8,
    load: async () => (await import('./texts/inner_policy.tsx')).lesson,
  },
  {
    id: 'which-layer',
    title: 'Which layer learned it?',
    says: 'Put blocks of one state into another, and let the mixture answer.',
    minutes: 7,
    load: async () => (await import('./texts/which_layer.tsx')).lesson,
  },
  {
    id: 'to-a-cluster',
    title: 'From the tab to a cluster',
    says: 'The same experiment as a job for verl or TRL.',
    minutes: 6,
    load: async () => (await import('./texts/to_a_cluster.tsx')).lesson,
  },
]

export const lessonOf = (id: string): Lesson | undefined =>
  LESSONS.find((lesson) => lesson.id === id)
