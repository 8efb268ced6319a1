// Says of each preset in one sentence what the menu shows. Apart from them, because only the
// gallery, the palette and the introduction need it, which are loaded later.

/** By id. */
export const SUMMARIES: Readonly<Record<string, string>> = {
  'two-skills-bupo':
    'After the warm start, 12 steps train the policy that layer 5 already holds; then the whole model is trained.',
  'two-skills-grpo':
    'The model knows how to add and how to forget carries; reinforcement learning picks the right skill.',
  'two-skills-ppo':
    'As many rollouts per step as GRPO, spent differently: one response to each of 256 prompts, and a critic in place of groups.',
  'partial-sft-addition':
    'A warm start that is stopped early, with every demonstration right; reinforcement learning continues from there.',
  'reverse-digits': 'Writes a string of digits backwards, after a short warm start.',
  'sort-digits': 'Writes a string of digits in ascending order; the shortest warm start of all.',
  brackets: 'Completes a string of opened brackets with the right closing ones.',
  'calculator-products':
    'Some demonstrations ask a calculator, most just know the product; the reward finds out which of the two works.',
  'countdown-pretrained':
    'Begins with a model that the lab pretrained on right answers to six tasks and ships; reinforcement makes it good at one of them.',
  'first-steps':
    'Begins with a warm start, a small model that has imitated right answers, so reinforcement starts at once: of an inner layer for a moment, then of the whole model.',
  'first-steps-gpu':
    'The first run with twice the responses and more steps, as a GPU has time for them: an inner layer for a moment, then the whole model.',
  'first-run':
    'The first run with groups of eight responses to fewer problems and a rate that stays: an inner layer for a moment, then the whole model.',
  'first-run-gpu':
    'The first run with GRPO, with twice the responses and more steps: an inner layer for a moment, then the whole model.',
  tiny: 'Three narrow layers and small batches: a warm start, then an inner layer, then the whole model.',
  'tiny-ppo':
    'The tiny task with one response to each of 128 prompts; a critic of its own says what to expect of each token (GAE).',
  'rlhf-tiny':
    'The task prefers one of two responses, a reward model learns to, and reinforcement sees the reward model alone, held back by the KL to where it began.',
  'rlhf-clicks':
    'You say which of two sums is better, sixteen times or more; a reward model learns it from you, and the policy follows the reward model.',
  'dpo-tiny':
    'The policy makes pairs of answers every few steps, the task says which is better, and DPO learns it at once: no reward model, no critic and no advantage.',
  'dpo-clicks':
    'The pairs of RLHF with your own clicks, from the same warm start; the policy learns your verdicts itself, and there is no reward model to be hacked.',
  'tiny-grpo':
    'The model first imitates right answers. Then it writes four answers to each of 32 problems in every step, and those that score better than the other three become likelier.',
  'tiny-own-best':
    'Expert iteration: four responses to each prompt are sampled, the right ones are imitated as a warm start would, and nothing pushes a wrong one away.',
  'tiny-reinforce':
    'One response to each of 128 prompts, compared with the mean of the whole batch: no critic and no groups.',
  'tiny-dr-grpo':
    'GRPO without its two divisions: by the spread of a group’s rewards, and by the number of tokens.',
  'tiny-dapo':
    'GRPO that draws other prompts in place of those whose four responses score the same, and clips higher upwards.',
  'tiny-collapse':
    'GRPO at ten times the learning rate of the tiny presets: see how a run is lost.',
  'tiny-teacher':
    'A student of 2 layers writes, and a shipped model of 4 layers says at every token what it would have written: on-policy distillation by the divergence of both.',
  'tiny-teacher-advantage':
    'The same student and teacher in a phase of reinforcement: the advantage of a token is how much likelier the teacher finds it, and no answer is checked.',
  'tiny-inner':
    'GRPO, and beside it the final policy of the same pass teaches layer 2 of 3 what it says of the tokens of good answers, and drives it away from those of bad ones (OISD).',
  'tiny-stale':
    'GRPO as a system runs it that samples and trains at once: every batch was written by the policy of 4 steps before, and importance weights correct for it.',
  'tiny-curriculum':
    'A model that begins to sort 3 digits meets problems of 3, then of 4, then of 5, each as soon as half of its answers are right.',
  'tiny-admission':
    'GRPO on 256 problems, without those whose four answers were all right or all wrong when they were last asked: such groups teach nothing.',
  'tiny-vectors':
    'One vector for each of three layers learns, added to its states at every token; the shipped model keeps its weights.',
  'tiny-muon':
    'GRPO whose matrices are updated by Muon, in steps that are about equally long in all directions; AdamW updates the rest.',
  'tiny-entropy-target':
    'GRPO with an entropy bonus whose weight grows in every step in which the entropy is at or below 0.8 nats, and falls again above it.',
  'story-ends':
    'The shipped storyteller ends stories, and is rewarded for happy ends: a rule, and no person, says what is better.',
  'story-dpo-clicks':
    'You say which of two ends is better, ten times or more, and the storyteller learns it at once, without a reward model.',
  'story-clicks':
    'Your clicks teach a reward model which of two ends is better, and PPO follows it, held back by a KL.',
  'story-animals':
    'Two rewards that pull at each other: mention one of five animals, and let every sentence fit.',
  'story-warm-words':
    'Warm words are counted in place of what is meant: watch the stories turn into a loop of them.',
  'story-lora':
    'Happy ends with the shipped weights frozen: adapters of rank 8 learn in their place.',
  'story-happy-end':
    'Happy ends with GRPO: two groups of four ends a step, at a higher rate, which is not sure to learn.',
  'story-happy':
    'The shipped storyteller is rewarded for happy ends alone: a rule, and no person, says what is better.',
  'smollm2-135m-countdown':
    'A short supervised warm start, then RLOO with LoRA, on SmolLM2-135M-Instruct, which you open first, and on rows of yours, such as countdown.',
  'qwen3-0-6b-gsm8k':
    'GRPO with a LoRA adapter of rank 1 on Qwen3-0.6B, which you open first, and on rows of yours, such as GSM8K.',
}
