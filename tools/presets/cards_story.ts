// Holds the words of the cards for stories; their numbers are computed from bench/results/presets.
import { type CardText, computed, percent, says, seedCount, setting } from './card_text.ts'
import type { PresetRun } from './preset_run.ts'

const part =
  (name: string, when: 'first' | 'last') =>
  ({ parts }: PresetRun) =>
    parts?.[name]?.[when]
const share = (name: string, when: 'first' | 'last') => percent(part(name, when))
const rows = computed(({ rollout }) => rollout.train_batch_size * rollout.n)
const ends = (name: string) => says`from ${share(name, 'first')} to ${share(name, 'last')}`

const shortEnds = says`A prompt tells a story up to how it comes out, so a response is its end. In ${setting('phases.0.steps')} steps of ${rows} stories the share of sampled ones that end happily goes ${ends('happy_end')} (${seedCount}).`
const unrewarded = says`Sense is not rewarded: sentences that fit what was said before go ${ends('coherence')}, different runs of words, as a share of all, ${ends('distinct_ngrams')}.`

const judged = says`Training waits for you: of each pair of ends, click the better, at least ${setting('phases.0.pairs.min_pairs')} times. For these numbers the rule that a happy end is better stood in for the person.`

/** By preset. */
export const STORY_CARDS: Readonly<Record<string, CardText>> = {
  'story-ends': says`${shortEnds} ${unrewarded} Read the ends before and after, side by side, when the run is over.`,
  'story-dpo-clicks': says`${judged} In ${setting('phases.0.steps')} steps of DPO, with ${setting('phases.0.batch_size')} pairs each, the share of held-out stories that end happily, sampled, goes ${ends('happy_end')} (${seedCount}). ${unrewarded} With your own clicks what comes more often is what you clicked.`,
  'story-clicks': says`${judged} In ${setting('phases.0.steps')} steps a reward model learns from the verdicts, in ${setting('phases.1.steps')} PPO follows it: the share of sampled stories that end happily goes ${ends('happy_end')} (${seedCount}). ${unrewarded} A KL holds the policy near its start; without it the proxy can be over-optimised.`,
  'story-animals': says`In ${setting('phases.0.steps')} steps of ${rows} stories the share of sampled ones that mention one of the chosen animals goes ${ends('mentions')} (${seedCount}). That sentences fit what was said before is rewarded with the same weight, and still goes ${ends('coherence')}: one gains, the other pays. Different runs of words, as a share of all, go ${ends('distinct_ngrams')}.`,
  'story-warm-words': says`In ${setting('phases.0.steps')} steps what is counted goes ${ends('mentions')} of what would be the full reward (${seedCount}). Happy ends, which are meant and not rewarded, go ${ends('happy_end')}, different runs of words, as a share of all, ${ends('distinct_ngrams')}: read the last stories aloud. A KL, a second part of the reward or an earlier end holds it back.`,
  'story-lora': says`The storyteller’s own weights stay as they are. ${shortEnds} ${unrewarded} The adapter takes a higher rate than all weights do.`,
  'story-happy-end': says`${shortEnds} ${unrewarded} Groups whose stories all end alike teach nothing, and with so few of them a seed can gain nothing.`,
  'story-happy': says`In ${setting('phases.0.steps')} steps the share of sampled stories that end happily goes ${ends('happy_end')} (${seedCount}). ${unrewarded} Read the stories before and after, side by side, when the run is over.`,
}
