// Teaches what it costs to train on samples of an older policy, and what weights give back.
import { useState } from 'react'
import { formatNumber } from '../../kit/format.ts'
import { REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer steps say little. */
const STEPS = 30

const parts = {
  why: question(
    'Why would a system train on old samples at all?',
    [
      { text: 'Old samples are less noisy' },
      { text: 'Writing takes longest, and must not wait for training', is_right: true },
      { text: 'The KL to the reference stays smaller' },
    ],
    'Yes. While some GPUs write, the others train; every batch is then a few steps old.',
    'What does a GPU do while it waits for the longest answer?',
  ),
  weight: question(
    'The policy of four steps ago wrote a token with probability 0.2; by now it would with 0.1. What is its weight?',
    [
      { text: '2, because it was written too often' },
      { text: '0.5, because it would be written half as often today', is_right: true },
      { text: '1, because it was written' },
    ],
    'Yes: the probability now, divided by the one it was written with.',
    'In a fresh batch, how often would it appear?',
  ),
  old: tryIt(
    'GRPO on samples that are four steps old, with importance weights. Look at Staleness, and at the KL between both policies.',
    'v=1&p=tiny-stale',
    (run) => {
      const phase = wholePhase(run)
      const ages = valuesIn(run, 'rollout/staleness', phase)
      const kl = valuesIn(run, 'rollout_corr/kl', phase)
      const reward = endsOf(run, REWARD, phase)
      if (!reward || kl.length < STEPS || ages.length < STEPS)
        return notYet(`${ages.length} of ${STEPS} steps of reinforcement so far.`)
      return seen(
        `The first batch was fresh (KL ${formatNumber(kl[0])} nats per token), the last one ${ages.at(-1)} steps old; at most the policies were ${formatNumber(Math.max(...kl))} nats apart. The sampled reward went from ${formatNumber(reward.before)} to ${formatNumber(reward.after)}.`,
      )
    },
  ),
}

/** The threshold above which a weight is cut off. */
const CUT = 2

function Weight() {
  const [now, setNow] = useState(0.1)
  const weight = now / 0.2
  return (
    <div className="by-hand">
      <label>
        probability of the token now; it was written with 0.20
        <input
          type="range"
          min={0.01}
          max={0.9}
          step={0.01}
          value={now}
          onChange={(event) => setNow(Number(event.target.value))}
        />
        {now.toFixed(2)}
      </label>
      <p>
        Weight {formatNumber(weight)}
        {weight > CUT ? `, cut off at ${CUT}` : ''}.
      </p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        A policy gradient is an expectation over what the policy writes <i>now</i>. A system that
        writes and trains at once has a batch of the policy of <Formula inline tex="k" /> steps ago.
      </p>
      <Ask name="why" of={parts.why} />
      <p>
        Each token then counts with the weight that makes up for who wrote it. Large weights are cut
        off, because one of them could outweigh a whole batch:
      </p>
      <Formula tex="w_t = \min\!\Big( \frac{\pi_\text{now}(y_t)}{\pi_\text{old}(y_t)},\; c \Big)" />
      <Weight />
      <Ask name="weight" of={parts.weight} />
      <p>
        There are three policies by then: the one that wrote, the one that the step begins with, and
        the one that is updated within the step. PPO’s ratio compares the last two; the weight
        compares the first two. The lesson <i>Three ways to get old log-probs</i> has them apart.
      </p>
      <h3>What it costs</h3>
      <p>
        The older the samples, the further both policies are apart, and the more of the batch is
        about answers that the policy no longer writes. <code>rollout.staleness</code> is the age in
        steps. The run stays exact and repeatable, because samples wait in order and not for a
        clock.
      </p>
      <Try name="old" of={parts.old} />
      <p>
        The study <i>What does asynchrony cost?</i> repeats this with several ages and seeds: at one
        step of age it finds no loss, at four steps one, and with weights none any more. Set{' '}
        <code>rollout_is</code> to none and train again to see it yourself.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2410.18252', 'Noukhovitch et al., Asynchronous RLHF'),
    arxiv('2505.24298', 'Fu et al., AReaL: asynchronous reinforcement learning for reasoning'),
    arxiv(
      '2110.00641',
      'Hilton et al., Batch size-invariance for policy optimization',
      'decoupled PPO',
    ),
    arxiv('1802.01561', 'Espeholt et al., IMPALA', section('4')),
  ],
}
