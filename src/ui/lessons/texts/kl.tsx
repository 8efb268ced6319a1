// Teaches the KL to the reference, in the reward and in the loss.
import { useState } from 'react'
import { formatNumber } from '../../kit/format.ts'
import { arxiv, equation, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  k1: question(
    'A token became half as probable as under the reference. Which estimate of its KL is negative?',
    [{ text: 'k1', is_right: true }, { text: 'k2' }, { text: 'k3' }],
    'Yes: k1 is the bare log-ratio, −0.69 here. Only its mean over samples is never negative in the limit.',
    'Move the slider to 0.5 and read the three lines.',
  ),
  place: question(
    'Where does a KL in the reward act?',
    [
      { text: 'Through the advantage: it changes how good a sampled token looks', is_right: true },
      { text: 'Directly, as a gradient of its own' },
      { text: 'Only in the critic' },
    ],
    'Yes. The KL in the loss is the other one: it has a gradient of its own, whatever the advantage says.',
    'What is computed from the reward, before any gradient is taken?',
  ),
  leash: tryIt(
    'Train with a KL in the loss, coefficient 0.05, and watch it grow from 0: the policy pulls at the leash.',
    'v=1&p=tiny-grpo&phases.1.steps=40&actor.use_kl_loss=true&actor.kl_loss_coef=0.05',
    (run) => {
      const phase = wholePhase(run)
      const ends = endsOf(run, 'actor/kl_loss', phase)
      if (!ends)
        return notYet(`${valuesIn(run, 'actor/kl_loss', phase).length} of 10 steps so far.`)
      const says = `The KL in the loss was ${formatNumber(ends.before)} in the first five steps and is ${formatNumber(ends.after)} in the last five.`
      return ends.after > ends.before ? seen(says) : notYet(says)
    },
  ),
}

function Estimates() {
  const [share, setShare] = useState(0.8)
  const logRatio = Math.log(share)
  const lines = [
    ['k1', logRatio],
    ['k2', logRatio ** 2 / 2],
    ['k3', 1 / share - 1 + logRatio],
  ] as const
  return (
    <div className="by-hand">
      <label>
        π / π_ref of a token
        <input
          type="range"
          min={0.2}
          max={3}
          step={0.05}
          value={share}
          onChange={(event) => setShare(Number(event.target.value))}
        />
        {share.toFixed(2)}
      </label>
      {lines.map(([name, value]) => (
        <p key={name}>
          {name}: {formatNumber(value)} nats
        </p>
      ))}
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        A reward never says all that is wanted. A policy that follows it far enough finds text that
        scores well and is useless. Let stories be warm, and count the word <i>happy</i>: the best
        story is <i>happy happy happy</i>. So it is tied to the policy that reinforcement began
        with, the <b>reference</b>, by the Kullback–Leibler divergence:
      </p>
      <Formula tex="\operatorname{KL}(\pi_\theta \,\|\, \pi_\text{ref}) = \mathbb{E}_{o \sim \pi_\theta} \Big[ \log \frac{\pi_\theta(o)}{\pi_\text{ref}(o)} \Big]" />
      <p>
        The reference hardly ever writes <i>happy</i> twice in a row. There{' '}
        <Formula inline tex="\pi_\text{ref}" /> is small and the log ratio large, so each repetition
        costs more than it brings, where the KL has weight enough.
      </p>
      <p>
        The sum over all texts cannot be computed. Each sampled token gives an estimate, and there
        are several, named k1, k2 and k3:
      </p>
      <Formula tex="k_1 = \log\tfrac{\pi}{\pi_\text{ref}}, \qquad k_2 = \tfrac12 \big(\log\tfrac{\pi}{\pi_\text{ref}}\big)^2, \qquad k_3 = \tfrac{\pi_\text{ref}}{\pi} - 1 + \log\tfrac{\pi}{\pi_\text{ref}}" />
      <Estimates />
      <Ask name="k1" of={parts.k1} />
      <h3>Two places</h3>
      <ul>
        <li>
          <b>In the reward</b>: <Formula inline tex="r_t = R_t - \beta\, k_t" />. The KL becomes
          part of what an advantage compares. This is the classic RLHF, and{' '}
          <Formula inline tex="\beta" /> can follow a target by itself.
        </li>
        <li>
          <b>In the loss</b>: <Formula inline tex="L = L_\text{PG} + \beta\, k_t" />. GRPO does
          that. The KL has its own gradient, so the choice of estimate changes what is minimised:
          the gradient of k2 is that of the true KL on fresh samples, that of k3 is not quite, and
          k1 has none in expectation.
        </li>
      </ul>
      <Ask name="place" of={parts.place} />
      <p>
        Many recent recipes for tasks with a checker leave the KL out altogether (DAPO, Dr. GRPO,
        BuPO): a program that checks an answer is hard to fool. With a learned reward model it is
        needed; the next lesson shows why.
      </p>
      <Try name="leash" of={parts.leash} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2009.01325', 'Stiennon et al., Learning to summarize from human feedback'),
    arxiv('2402.03300', 'Shao et al., DeepSeekMath', equation('4')),
    {
      title: 'Schulman, Approximating KL divergence',
      where: 'joschu.net, 2020',
      url: 'http://joschu.net/blog/kl-approx.html',
    },
  ],
}
