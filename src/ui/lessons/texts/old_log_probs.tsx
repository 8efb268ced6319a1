// Teaches where the old log-probs of the ratio come from.
import { formatNumber } from '../../kit/format.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  first_ratio: question(
    'Old log-probs are computed again by the trainer’s own pass. What is the ratio in the first update of a batch?',
    [
      { text: 'Exactly 1, for every token', is_right: true },
      { text: 'About 1, with noise from sampling' },
      { text: 'Unknown' },
    ],
    'Yes. Same weights, same pass: log π − log π_old is 0. The lab tests that to the last bit.',
    'Both sides of the ratio come from the same weights and the same kernels.',
  ),
  truncated: question(
    'Why is the importance weight cut off from above?',
    [
      { text: 'So that it cannot be negative' },
      {
        text: 'One token that the sampler found very improbable must not rule the batch',
        is_right: true,
      },
      { text: 'To save memory' },
    ],
    'Yes. A ratio of two small probabilities can be in the thousands; its variance would drown the rest.',
    'What becomes of π/π_rollout where π_rollout is nearly 0?',
  ),
  corrected: tryIt(
    'Train with importance weights per token. “KL between rollout and training” appears behind More charts: how far the sampler was from the trainer.',
    'v=1&p=tiny-grpo&phases.1.steps=20&rollout.calculate_log_probs=true&algorithm.rollout_correction.rollout_is=token',
    (run) => {
      const values = valuesIn(run, 'rollout_corr/kl', wholePhase(run))
      if (values.length < 5) return notYet(`${values.length} of 5 steps were measured so far.`)
      const largest = Math.max(...values.map(Math.abs))
      return seen(
        `In ${values.length} steps the two were at most ${formatNumber(largest)} nats per token apart. Here both are this lab in float32, so only rounding is left; with another engine or float16 it would be more.`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        The ratio of PPO and GRPO compares the policy now with the policy that sampled. So every
        training step needs <Formula inline tex="\log \pi_\text{old}(o_t)" /> for each sampled
        token. There are three ways to get it, and they are not the same number.
      </p>
      <ol>
        <li>
          <b>Compute it again.</b> After sampling, one pass of the trainer scores all responses with
          the weights as they are. It costs a forward pass and agrees exactly with what the update
          computes. This is the default here, and in verl.
        </li>
        <li>
          <b>Take the sampler’s.</b> The sampler knew the probabilities when it drew.{' '}
          <i>Bypass mode</i> uses them as they are. That saves the pass; but a sampler is often
          another program with other rounding (float16, other kernels, weights that are some steps
          old), so the first ratio is no longer 1.
        </li>
        <li>
          <b>Compute it again, and correct.</b> The trainer’s own log-probs stand in the clip, and
          an importance weight corrects for the difference to the sampler:
        </li>
      </ol>
      <Formula tex="w_t = \min\!\Big( \frac{\pi_\text{old}(o_t)}{\pi_\text{rollout}(o_t)},\; c \Big), \qquad L = -\,\mathbb{E}\big[ w_t \min(r_t A_t, \operatorname{clip}(r_t) A_t) \big]" />
      <Ask name="first_ratio" of={parts.first_ratio} />
      <p>
        Does it matter? In large systems it does: a sampler and a trainer that disagree make the
        data off-policy without anyone saying so, and runs have collapsed from that. In this tab
        both sides share kernels in float32, so the difference is rounding. The settings under{' '}
        <i>Rollout correction</i> carry verl’s names, and a job that leaves the lab keeps them.
      </p>
      <Ask name="truncated" of={parts.truncated} />
      <Try name="corrected" of={parts.corrected} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    {
      title: 'verl, rollout correction',
      where: 'documentation',
      url: 'https://verl.readthedocs.io/en/latest/algo/rollout_corr.html',
    },
    arxiv('1611.01224', 'Wang et al., truncated importance weights (ACER)'),
    arxiv('1707.06347', 'Schulman et al., Proximal Policy Optimization'),
  ],
}
