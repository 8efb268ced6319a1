// Holds the words of the large presets' cards; their numbers are computed from
// bench/results/presets.
import {
  after,
  type CardText,
  computed,
  entropyOf,
  greedyAt,
  greedyEnd,
  higherThan,
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
import { REAL_CARDS } from './cards_real.ts'
import { STORY_CARDS } from './cards_story.ts'
import { TAUGHT_CARDS } from './cards_taught.ts'
import { TINY_CARDS } from './cards_tiny.ts'

const rlSteps = computed(({ phases }) =>
  phases.reduce((sum, { kind, steps }) => sum + (kind === 'rl' ? steps : 0), 0),
)
const heldOut = says`Greedy accuracy on held-out problems goes from ${percent(greedyAt(0))} at the switch over ${after(20, greedyAt)} to ${percent(greedyEnd)} at the end, that of samples from ${percent(sampledAt(0))} to ${percent(sampledEnd)} (${seedCount}).`

/** By preset. */
export const CARDS: Readonly<Record<string, CardText>> = {
  'two-skills-bupo': says`The warm start ends at ${percent(greedyAt(0))} greedy accuracy, because most demonstrations forget the carries. In the ${setting('phases.1.steps')} steps of the inner phase the entropy of layer ${setting('phases.1.target_layer')} ${went(entropyOf(0, 'first', 'target'), entropyOf(0, 'last', 'target'))}, in nats, and that of the final policy ${went(entropyOf(0, 'first', 'final'), entropyOf(0, 'last', 'final'))}; each is measured on one batch, so small changes say little. Greedy accuracy is ${after(20, greedyAt)} of reinforcement, ${after(40, greedyAt)} and ${percent(greedyEnd)} at the end (${seedCount}; plain GRPO: ${of('two-skills-grpo', after(20, greedyAt))} and ${of('two-skills-grpo', percent(greedyEnd))} at the end). It ends above GRPO of the same seed ${higherThan('two-skills-grpo', greedyEnd)}. Learning here selects a skill that the model already has; it does not teach addition. Look at the entropies, not only at the final score.`,
  'two-skills-grpo': says`The warm start ends at ${percent(greedyAt(0))} greedy accuracy. Reinforcement takes it to ${after(20, greedyAt)}, ${after(40, greedyAt)} and ${percent(greedyEnd)} after ${rlSteps}; the sampled reward ends at ${percent(({ reward_last }) => reward_last)} (${seedCount}). The entropy of the final policy ${went(entropyOf(0, 'first', 'final'), entropyOf(0, 'last', 'final'))}, in nats.`,
  'two-skills-ppo': says`Greedy accuracy goes from ${percent(greedyAt(0))} to ${after(20, greedyAt)} of reinforcement, ${after(40, greedyAt)} and ${percent(greedyEnd)} after ${rlSteps}; the sampled reward ends at ${percent(({ reward_last }) => reward_last)} (${seedCount}). It ends above GRPO of the same seed ${higherThan('two-skills-grpo', greedyEnd)}, with a higher sampled reward ${higherThan('two-skills-grpo', ({ reward_last }) => reward_last)}. Do not credit the critic for all of it: ${setting('rollout.train_batch_size')} different problems a step are more than GRPO has.`,
  'partial-sft-addition': says`${heldOut} Where the warm start ends differs from seed to seed, so compare runs of one seed only.`,
  'reverse-digits': heldOut,
  'sort-digits': says`Greedy accuracy on held-out problems is ${percent(greedyAt(0))} already at the switch, ${after(20, greedyAt)} and ${percent(greedyEnd)} at the end. Watch the samples instead: they go from ${percent(sampledAt(0))} right to ${percent(sampledEnd)} in ${rlSteps} steps (${seedCount}).`,
  brackets: says`${heldOut} Answers are longer than in the other tasks.`,
  'calculator-products': says`A response may call a calculator and read its answer. In the first steps of reinforcement a response makes ${number(({ tool_calls_first }) => tool_calls_first, 2)} calls, in the last ones ${number(({ tool_calls_last }) => tool_calls_last, 2)} (${seedCount}). ${heldOut} Reinforcement does not teach the model to multiply: it finds that asking works and guessing does not. Look at the calls of tools behind More charts, and at what the tool wrote in the samples.`,
  'countdown-pretrained': says`There is no warm start: the model comes with the lab and has seen right answers to every training problem, to held-out ones not. Greedy accuracy on held-out problems goes from ${percent(greedyAt(0))} before the first step over ${after(20, greedyAt)} to ${percent(greedyEnd)} at the end, that of samples from ${percent(sampledAt(0))} to ${percent(sampledEnd)} (${seedCount}). The reward of the first steps is ${percent(({ reward_first }) => reward_first)}, that of the last ones ${percent(({ reward_last }) => reward_last)}. The entropy of the final policy ${went(entropyOf(0, 'first', 'final'), entropyOf(0, 'last', 'final'))}, in nats.`,
  ...TINY_CARDS,
  ...TAUGHT_CARDS,
  ...STORY_CARDS,
  ...REAL_CARDS,
}
