// Teaches why the loss of GRPO stands at zero while the policy learns.
import { useState } from 'react'
import { groupAdvantages, groupLoss } from '../../../document/formulas/by_hand.ts'
import { formatNumber } from '../../kit/format.ts'
import { REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Rounding of numbers near 1, as advantages are. */
const FLOAT32 = 2 ** -24
/** Fewer steps say little. */
const STEPS = 10

const parts = {
  slope: question(
    'The loss is 0.000 in every step, and the gradient’s norm is about 1. What follows?',
    [
      { text: 'Nothing is learned, because the loss is at its minimum' },
      { text: 'The weights move: its value is 0, its slope is not', is_right: true },
      { text: 'The learning rate is too small' },
    ],
    'Yes. The optimizer never sees the value of a loss, only its slope.',
    'Move the slider above away from the middle, and back. Is the curve flat there?',
  ),
  lengths: question(
    'Every token now counts alike (token-mean), and the wrong responses are the longer ones. What is the first loss?',
    [{ text: 'Exactly 0, as before' }, { text: 'Above 0', is_right: true }, { text: 'Below 0' }],
    'Yes: negative advantages now stand on more tokens, and the loss is minus their mean. It says how long the wrong responses were, not how good the policy is.',
    'Which advantages are on more tokens, and what sign does the loss put before them?',
  ),
  train: tryIt(
    'Train GRPO with one update for each batch, and with every response counting alike. Look at the policy loss, which it pins above the other charts, and at the sampled reward.',
    'v=1&p=tiny-grpo&phases.1.steps=20&actor.ppo_mini_batch_size=32&actor.loss_agg_mode=seq-mean-token-mean',
    (run) => {
      const phase = wholePhase(run)
      const losses = valuesIn(run, 'actor/pg_loss', phase)
      const norms = valuesIn(run, 'actor/grad_norm', phase)
      const reward = endsOf(run, REWARD, phase)
      if (!reward || losses.length < STEPS || norms.length < STEPS)
        return notYet(`${losses.length} of ${STEPS} steps of reinforcement so far.`)
      const largest = Math.max(...losses.map(Math.abs))
      const loss =
        largest <= FLOAT32
          ? 'The loss was 0 in every step, to the rounding of float32'
          : `The loss was never further from 0 than ${formatNumber(largest)}`
      return seen(
        `${loss}, while the gradient’s norm lay between ${formatNumber(Math.min(...norms))} and ${formatNumber(Math.max(...norms))}. The sampled reward went from ${formatNumber(reward.before)} to ${formatNumber(reward.after)}.`,
      )
    },
    'policy-loss',
  ),
}

const SCORES = [1, 0, 0, 0]
const CLIP = { clip_ratio_low: 0.2, clip_ratio_high: 0.2 }

/** The lab's own loss of four responses of one token each, of which the first becomes likelier. */
function Curve() {
  const [ratio, setRatio] = useState(1)
  const advantages = groupAdvantages(SCORES)
  const lossAt = (first: number) => groupLoss([first, 1, 1, 1], advantages, CLIP)
  const step = 0.001
  const slope = (lossAt(ratio + step) - lossAt(ratio - step)) / (2 * step)
  return (
    <div className="by-hand">
      <label>
        how much likelier the right response has become
        <input
          type="range"
          min={0.7}
          max={1.4}
          step={0.01}
          value={ratio}
          onChange={(event) => setRatio(Number(event.target.value))}
        />
        {ratio.toFixed(2)} ×
      </label>
      <p>
        Loss {formatNumber(lossAt(ratio))}, slope {formatNumber(slope)}.
      </p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        Who comes from supervised learning watches the loss fall. Under GRPO it stands near zero
        from the first step to the last, and people ask what is broken. Nothing is. Before its first
        update a batch is scored by the very policy that wrote it, so every ratio is 1, and the loss
        is minus the mean of the advantages:
      </p>
      <Formula tex="L = -\frac{1}{G} \sum_i \frac{\pi_\theta(o_i)}{\pi_\text{old}(o_i)} A_i = -\frac{1}{G} \sum_i A_i = 0" />
      <p>
        A group’s advantages add up to zero by construction. The slope does not, because each
        advantage stands before another gradient:
      </p>
      <Formula tex="\nabla L = -\frac{1}{G} \sum_i A_i \nabla \log \pi_\theta(o_i)" />
      <p>
        Four responses, one of them right. The lab’s own loss computes both numbers; beyond a ratio
        of 1.2 the clip takes the slope away.
      </p>
      <Curve />
      <Ask name="slope" of={parts.slope} />
      <h3>When it is not zero</h3>
      <p>
        With several updates for each batch the later ones see ratios that have moved, and the loss
        goes a little below zero: the policy has begun to do what the advantages ask for. A KL in
        the loss adds its coefficient times the KL, which grows as the policy leaves its reference.
        And how tokens are averaged matters:
      </p>
      <Ask name="lengths" of={parts.lengths} />
      <p>
        So read other curves: the sampled reward and the held-out accuracy for what is learned, the
        entropy for what is still tried, the gradient’s norm and the KL for how fast it goes.
      </p>
      <Try name="train" of={parts.train} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2402.03300', 'Shao et al., DeepSeekMath', section('4.1')),
    {
      title: 'A maintainer of TRL on a loss that starts at 0',
      where: 'huggingface/open-r1, issue 239',
      url: 'https://github.com/huggingface/open-r1/issues/239',
    },
  ],
}
