// Holds the words of the small presets' cards; their numbers are computed from
// bench/results/presets.
import {
  type CardText,
  entropyOf,
  type Figure,
  greedyAt,
  greedyEnd,
  higherThan,
  largestPercent,
  number,
  of,
  percent,
  sampledAt,
  sampledEnd,
  says,
  seedCount,
  setting,
  went,
} from './card_text.ts'
import { LOST, type PresetRun } from './preset_run.ts'

const reward_first = ({ reward_first }: PresetRun) => reward_first
const reward_last = ({ reward_last }: PresetRun) => reward_last
const preference_accuracy = ({ preference_accuracy }: PresetRun) => preference_accuracy
const task_score_last = ({ task_score_last }: PresetRun) => task_score_last

const lostShare: Figure = () => `${Math.round(100 * LOST)} %`
const lost: Figure = ({ runs }) => {
  const steps = runs.flatMap(({ lost_at }) => lost_at ?? [])
  if (steps.length === 0) return `in none of ${runs.length} seeds`
  const [low, high] = [Math.min(...steps), Math.max(...steps)]
  return `from step ${low === high ? low : `${low}–${high}`} on in ${steps.length} of ${runs.length} seeds`
}

/** The sampled reward of a run of one rl phase and its held-out accuracy, at both ends. */
const ends = says`In ${setting('phases.1.steps')} steps the sampled reward goes from ${percent(reward_first)} to ${percent(reward_last)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}).`

/** A first run: an inner layer for a moment, then the whole model, from the shipped warm start. */
const innerFirst = says`In ${setting('phases.0.steps')} steps of layer ${setting('phases.0.target_layer')} alone the entropy of its policy ${went(entropyOf(0, 'first', 'target'), entropyOf(0, 'last', 'target'))}, in nats, and that of the final policy ${went(entropyOf(0, 'first', 'final'), entropyOf(0, 'last', 'final'))}. Then ${setting('phases.1.steps')} steps train the whole model: the sampled reward goes from ${percent(reward_first)} to ${percent(reward_last)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}).`

/** By preset. */
export const TINY_CARDS: Readonly<Record<string, CardText>> = {
  'first-steps': says`Reinforcement begins with the first step, from a warm start that is shipped. ${innerFirst}`,
  'first-steps-gpu': says`The first run, larger: the same shipped warm start, ${setting('rollout.train_batch_size')} prompts × ${setting('rollout.n')} responses a step. ${innerFirst}`,
  'first-run': says`Reinforcement begins with the first step, from a warm start that is shipped. ${innerFirst} Runs without the inner phase learn as fast: it acts on its own layer, and the reward does not need it (docs/results.md).`,
  'first-run-gpu': says`The first run with GRPO, larger: the same shipped warm start, ${setting('rollout.train_batch_size')} prompts × ${setting('rollout.n')} responses a step. ${innerFirst}`,
  tiny: says`The warm start ends at ${percent(greedyAt(0))} greedy accuracy, but only ${percent(sampledAt(0))} of the samples are right. In ${setting('phases.1.steps')} steps of layer ${setting('phases.1.target_layer')} its entropy ${went(entropyOf(0, 'first', 'target'), entropyOf(0, 'last', 'target'))}, in nats: so few steps change little. Then ${setting('phases.2.steps')} steps train the whole model, the sampled reward climbs to ${percent(reward_last)} (${seedCount}), and greedy accuracy ends at ${percent(greedyEnd)}. The model grows sure of what it knew: the entropy of the final policy ${went(entropyOf(1, 'first', 'final'), entropyOf(1, 'last', 'final'))}.`,
  'tiny-ppo': says`The warm start ends with ${percent(sampledAt(0))} of the samples right. ${ends} The critic learns slowly: the share of the returns’ variance that it explains begins at ${number(({ explained_first }) => explained_first, 2)} and ends at ${number(({ explained_last }) => explained_last, 2)}. Do not read the reward as a victory of the critic: PPO has ${setting('rollout.train_batch_size')} different problems in a step, more than GRPO at as many rollouts, and REINFORCE++, with as many and without a critic, ends at ${of('tiny-reinforce', percent(reward_last))}.`,
  'tiny-grpo': says`${ends} At as many rollouts PPO ends at ${of('tiny-ppo', percent(reward_last))}, and REINFORCE++, with as many different prompts as PPO but without a critic, at ${of('tiny-reinforce', percent(reward_last))}: compare them before you credit the critic.`,
  'tiny-own-best': says`Reinforcement begins with the first step, from the warm start of the first run. Of ${setting('rollout.n')} answers to each of ${setting('rollout.train_batch_size')} prompts the right ones are imitated. In ${setting('phases.0.steps')} steps the sampled reward goes from ${percent(reward_first)} to ${percent(reward_last)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}). A wrong answer teaches nothing here, and a prompt that none of its answers solved is lost; GRPO, with another estimator and loss, learns from both.`,
  'tiny-reinforce': says`${ends} The sampled reward ends above that of GRPO, with as many rollouts of fewer prompts, ${higherThan('tiny-grpo', reward_last)}, though nothing is known of a prompt but one response.`,
  'tiny-dr-grpo': says`${ends} The sampled reward ends above that of plain GRPO of the same seed ${higherThan('tiny-grpo', reward_last)}. With answers of so few tokens there is little length to be biased about: do not expect a difference that is larger than that between seeds.`,
  'tiny-dapo': says`Every step trains on ${setting('rollout.train_batch_size')} groups that differ in score, and draws ${number(({ gen_batches }) => gen_batches, 1)} batches for that on average. So the sampled reward is that of the kept groups, in which at least one response of each is wrong; it goes from ${percent(reward_first)} to ${percent(reward_last)}. Read the held-out samples instead: from ${percent(sampledAt(0))} right to ${percent(sampledEnd)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}). Plain GRPO ends at ${of('tiny-grpo', percent(sampledEnd))} and ${of('tiny-grpo', percent(greedyEnd))}, having sampled less. The penalty for overlong answers is off, because an answer has ${setting('task.length')} digits and an end token.`,
  'tiny-collapse': says`At the switch ${percent(sampledAt(0))} of held-out samples are right. The sampled reward stays below ${lostShare} ${lost}. Greedy accuracy falls from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}). Soon no group of responses differs in score, so nothing pulls the policy back. The clip hardly notices: it never holds more than ${largestPercent(({ clipfrac_max }) => clipfrac_max)} of the tokens. The findings above the charts say so while it happens.`,
  'rlhf-tiny': says`In the first steps of reinforcement ${percent(({ task_score_first }) => task_score_first)} of the samples are right; the others mostly forget the carry. The reward model, a copy of the policy that never sees the task’s score, ends with ${percent(({ reward_model_accuracy }) => reward_model_accuracy)} of held-out pairs in the right order. In ${setting('phases.2.steps')} steps of reinforcement against it the task’s score goes to ${percent(task_score_last)} (${seedCount}), at ${number(({ kl_last }) => kl_last, 2)} nats per token from where it began. With so few sums the held-out ones hardly gain: what is learned is which skill to use.`,
  'rlhf-clicks': says`After the warm start training waits for you: of each pair of answers to one sum, click the better. Your verdicts, at least ${setting('phases.1.pairs.min_pairs')}, teach the reward model, and those on every fourth sum are held out to test it; with so few, its accuracy is a rough number. With the task judging in a person’s stead, the share of right samples went from ${percent(({ task_score_first }) => task_score_first)} to ${percent(task_score_last)} in ${setting('phases.2.steps')} steps (${seedCount}). Prefer the sums that forget the carry, and the policy follows you there. More verdicts while it trains are used as they come; a copied link holds them.`,
  'dpo-tiny': says`After the warm start ${percent(sampledAt(0))} of the samples are right. Every ${setting('phases.1.refresh_steps')} steps the policy makes new pairs, in which one answer is right and the other is not. In ${setting('phases.1.steps')} steps of DPO the right samples come to ${percent(sampledEnd)} (${seedCount}), and ${percent(preference_accuracy)} of held-out pairs are in the right order. Greedy accuracy, at ${percent(greedyAt(0))} before, ends at ${percent(greedyEnd)}. GRPO, which sees more answers, brings the samples to ${of('tiny-grpo', percent(sampledEnd))} in its longer run.`,
  'dpo-clicks': says`The warm start and the pairs are those of RLHF with your own clicks, so the same verdicts can teach both: copy the field of recorded verdicts from one to the other. With the task judging in a person’s stead, ${percent(preference_accuracy)} of held-out pairs are in the right order after ${setting('phases.1.steps')} steps (${seedCount}), without a reward model. Right samples on held-out sums go from ${percent(sampledAt(0))} to ${percent(sampledEnd)}: with so few sums and pairs the held-out ones can also be unlearned. The reward model’s run ends at ${of('rlhf-clicks', percent(sampledEnd))}.`,
}
