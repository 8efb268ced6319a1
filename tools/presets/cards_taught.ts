// Holds the words of the cards for teachers, inner layers that learn along, stale samples, a
// curriculum, a gate, Muon and an entropy target; their numbers are computed from
// bench/results/presets.
import {
  type CardText,
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
import type { PresetRun } from './preset_run.ts'

const teacher_first = ({ teacher_first }: PresetRun) => teacher_first
const teacher_last = ({ teacher_last }: PresetRun) => teacher_last
const reward_first = ({ reward_first }: PresetRun) => reward_first
const reward_last = ({ reward_last }: PresetRun) => reward_last
const layerEntropy = (layer: number, when: 'first' | 'last') => (run: PresetRun) =>
  run.phases[0][when][layer]

const ends = says`In ${setting('phases.1.steps')} steps the sampled reward goes from ${percent(reward_first)} to ${percent(reward_last)}, right samples on held-out problems from ${percent(sampledAt(0))} to ${percent(sampledEnd)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}).`

/** By preset. */
export const TAUGHT_CARDS: Readonly<Record<string, CardText>> = {
  'tiny-teacher': says`A warm start of ${setting('phases.0.steps')} steps leaves ${percent(sampledAt(0))} of the student’s samples right. Then it writes ${setting('phases.1.batch_size')} answers a step, and the teacher says what it makes of every token. In ${setting('phases.1.steps')} steps the divergence of both ${went(teacher_first, teacher_last)}, in nats per token; right samples come to ${percent(sampledEnd)} and greedy accuracy to ${percent(greedyEnd)} (${seedCount}). No answer is checked: a student cannot know which of its teacher’s habits are mistakes. The study of larger teachers compares this with reinforcement at as many samples.`,
  'tiny-teacher-advantage': says`The student and the teacher of distillation, in a phase of reinforcement without a reward: all that a step learns from is how likely the teacher finds the tokens that were sampled. In ${setting('phases.1.steps')} steps the reverse KL to the teacher ${went(teacher_first, teacher_last)}, in nats per token; right samples go from ${percent(sampledAt(0))} to ${percent(sampledEnd)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}). Distillation of the whole distribution, at as many samples, brings them to ${of('tiny-teacher', percent(sampledEnd))} and ${of('tiny-teacher', percent(greedyEnd))}: one number for a token says less than a distribution. Switch the rewards of the task on to learn from both.`,
  'tiny-inner': says`${ends} The entropy of layer ${setting('actor.inner.layers')} ${went(layerEntropy(2, 'first'), layerEntropy(2, 'last'))}, in nats; with GRPO alone it ${of('tiny-grpo', went(layerEntropy(2, 'first'), layerEntropy(2, 'last')))}. Right samples end above those of GRPO alone ${higherThan('tiny-grpo', sampledEnd)}. In so few steps neither accuracy nor entropy tells both apart; the study of inner layers runs this beside deep supervision and BuPO.`,
  'tiny-stale': says`Every step trains on answers of the policy of ${setting('rollout.staleness')} steps before, weighted by how much likelier the present one finds each token. ${ends} Plain GRPO, whose samples are fresh, brings right samples to ${of('tiny-grpo', percent(sampledEnd))}; the stale run ends above it ${higherThan('tiny-grpo', sampledEnd)}. Switch the weights off to see what they are for: the study of asynchrony did. The charts of rollout correction say how far apart both policies are.`,
  'tiny-curriculum': says`The model was trained on shorter problems, of ${setting('data.curriculum.start')} digits, and at the start ${percent(sampledAt(0))} of its samples of the whole task are right: without a right answer no group differs, and reinforcement has nothing to learn from. With the curriculum the whole task comes after ${number(({ whole_task_at }) => whole_task_at)} of ${setting('phases.0.steps')} steps, and ${percent(sampledEnd)} of its held-out samples are right at the end, ${percent(greedyEnd)} greedily (${seedCount}). The sampled reward falls whenever the problems become longer, so read the held-out curve.`,
  'tiny-admission': says`Training repeats ${setting('data.train_max_samples')} problems, from the warm start of the first run. A problem whose answers were all right or all wrong when it was last asked is left out for ${setting('data.admission.retry_epochs')} passes, because a group without a difference has no advantage. At the tightest ${percent(({ admitted_min }) => admitted_min)} of the problems are admitted, at the end ${percent(({ admitted_last }) => admitted_last)}. In ${setting('phases.0.steps')} steps right samples on held-out problems go from ${percent(sampledAt(0))} to ${percent(sampledEnd)}, greedy accuracy from ${percent(greedyAt(0))} to ${percent(greedyEnd)} (${seedCount}). The sampled reward is that of the problems in between, so read the held-out curve; a share that falls to nothing says that the set is learned.`,
  'tiny-vectors': says`Reinforcement begins with the first step, from the warm start of the first run, whose weights stay as they are: all that learns is a vector for each layer. In ${setting('phases.0.steps')} steps greedy accuracy goes from ${percent(greedyAt(0))} to ${percent(greedyEnd)}, right samples from ${percent(sampledAt(0))} to ${percent(sampledEnd)} (${seedCount}). The first run with GRPO, which trains all weights as long, comes to ${of('first-run', percent(greedyEnd))} and ${of('first-run', percent(sampledEnd))}: a direction moves what is likeliest as the weights do, but added alike at every token it does not make the model surer. What does a direction do? shows each vector by itself.`,
  'tiny-muon': says`${ends} The learning rate is that of GRPO with AdamW, because a step of Muon is scaled to be about as long. Right samples end above those of AdamW ${higherThan('tiny-grpo', sampledEnd)}, greedy accuracy ${higherThan('tiny-grpo', greedyEnd)} (AdamW: ${of('tiny-grpo', percent(sampledEnd))} and ${of('tiny-grpo', percent(greedyEnd))}). One rate was tried for both, so this is no verdict on the optimizers.`,
  'tiny-entropy-target': says`${ends} The entropy of the final policy ends at ${number(entropyOf(0, 'last', 'final'), 2)} nats, where the target is ${setting('actor.entropy_target')}; without a target at ${of('tiny-grpo', number(entropyOf(0, 'last', 'final'), 2))}. The weight of the bonus grew to ${number(({ entropy_coeff_max }) => entropy_coeff_max, 2)} at most. It comes at a price: right samples end above those of GRPO without a target ${higherThan('tiny-grpo', sampledEnd)}, because a policy that stays unsure also samples more wrong answers.`,
}
