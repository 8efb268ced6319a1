// Teaches PPO with its critic, GAE and the clip.
import { useState } from 'react'
import { clippedLoss, gaeByHand } from '../../../document/formulas/by_hand.ts'
import { formatNumber } from '../../kit/format.ts'
import { arxiv, equation, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, phaseWhere, seen, valuesIn } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { OpenTab } from '../parts/OpenTab.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  lambda: question(
    'With γ = λ = 1, which advantage does a token get?',
    [
      { text: 'The final reward minus the critic’s value of that token', is_right: true },
      { text: 'The difference between two neighbouring values' },
      { text: 'The same as every other token' },
    ],
    'Yes: all inner values cancel, and A_t = R − V_t.',
    'Set λ to 1 in the table and compare each row with 1 − V.',
  ),
  clip: question(
    'A token has advantage +1, and its ratio is already 1.3 with ε = 0.2. What does this update do to it?',
    [
      { text: 'It raises the probability further' },
      { text: 'Nothing: the clip holds the gradient at 0', is_right: true },
      { text: 'It lowers the probability' },
    ],
    'Yes. It has moved far enough in the good direction for one batch.',
    'Move the ratio past 1 + ε and read the word beside the loss.',
  ),
  traced: tryIt(
    'Train PPO on the tiny task. When reinforcement has begun, choose Tokens above, then “Trace the next step”: the seven stages show one real batch, with every number.',
    'v=1&p=tiny-ppo&phases.1.steps=60',
    (run) => {
      const phase = phaseWhere(run, ({ kind }) => kind === 'rl')
      const { length } = valuesIn(run, 'critic/vf_loss', phase)
      if (length === 0)
        return notYet('The critic has not been trained yet: the warm start comes first.')
      return run.traced.includes('gae')
        ? seen(`You traced a step of PPO; the critic has been trained in ${length} steps.`)
        : notYet(`The critic has been trained in ${length} steps. Now trace one, in Tokens.`)
    },
  ),
}

const VALUES = [0.4, 0.6, 0.3, 0.8]

function Gae() {
  const [lam, setLam] = useState(0.95)
  const { advantages } = gaeByHand([0, 0, 0, 1], VALUES, 1, lam)
  return (
    <div className="by-hand">
      <table>
        <caption className="visually-hidden">GAE on a response of four tokens</caption>
        <thead>
          <tr>
            {['token', 'reward', 'value', 'advantage'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {VALUES.map((value, t) => (
            <tr key={value}>
              <th scope="row">{t + 1}</th>
              <td>{t === 3 ? 1 : 0}</td>
              <td>{value}</td>
              <td>{formatNumber(advantages[t])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label>
        λ
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={lam}
          onChange={(event) => setLam(Number(event.target.value))}
        />
        {lam.toFixed(2)}
      </label>
    </div>
  )
}

function Clip() {
  const [ratio, setRatio] = useState(1.1)
  const clip = { clip_ratio_low: 0.2, clip_ratio_high: 0.2 }
  const said = (advantage: number) => {
    const { loss, is_clipped } = clippedLoss(ratio, advantage, clip)
    return `${formatNumber(loss)}${is_clipped ? ', clipped: no gradient' : ''}`
  }
  return (
    <div className="by-hand">
      <label>
        ratio r
        <input
          type="range"
          min={0.5}
          max={1.6}
          step={0.05}
          value={ratio}
          onChange={(event) => setRatio(Number(event.target.value))}
        />
        {ratio.toFixed(2)}
      </label>
      <p>Loss where the advantage is +1: {said(1)}</p>
      <p>Loss where it is −1: {said(-1)}</p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        GRPO needs several responses to each prompt. <b>PPO</b> makes do with one, because a second
        network, the <b>critic</b>, says before every token what reward is to be expected:{' '}
        <Formula inline tex="V_t = V(q, o_{<t})" />. A token is good if things look better after it
        than before.
      </p>
      <h3>GAE</h3>
      <p>
        The one-step surprise is <Formula inline tex="\delta_t" />. Generalised advantage estimation
        adds up the surprises that follow, each weaker by <Formula inline tex="\gamma\lambda" />:
      </p>
      <Formula tex="\delta_t = r_t + \gamma V_{t+1} - V_t, \qquad A_t = \delta_t + \gamma\lambda\, A_{t+1}" />
      <p>
        Small <Formula inline tex="\lambda" /> trusts the critic: little noise, but its errors stay.
        Large <Formula inline tex="\lambda" /> trusts the reward: no such error, more noise. Over a
        batch the advantages are then brought to mean 0 and spread 1.
      </p>
      <Gae />
      <Ask name="lambda" of={parts.lambda} />
      <h3>The clip</h3>
      <p>
        A batch is used for several updates. To keep the policy near the one that sampled it, PPO
        looks at the ratio <Formula inline tex="r_t = \pi_\theta(o_t) / \pi_\text{old}(o_t)" /> and
        stops rewarding a move that has gone far enough:
      </p>
      <Formula tex="L_t = -\min\big( r_t A_t,\; \operatorname{clip}(r_t,\, 1-\epsilon,\, 1+\epsilon)\, A_t \big)" />
      <Clip />
      <Ask name="clip" of={parts.clip} />
      <p>
        The clip is one-sided: a token that moved the <i>wrong</i> way still has its gradient,
        however far it is. In the lab a third bound, <code>clip_ratio_c</code>, limits the loss of
        bad tokens that became much more probable (dual clip).
      </p>
      <Try name="traced" of={parts.traced} />
      <OpenTab tab="tokens">Open Tokens</OpenTab>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('1707.06347', 'Schulman et al., Proximal Policy Optimization', equation('7')),
    arxiv('1506.02438', 'Schulman et al., Generalized Advantage Estimation'),
    arxiv('1912.09729', 'Ye et al., dual clip', equation('5')),
  ],
}
