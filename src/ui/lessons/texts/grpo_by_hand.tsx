// Teaches GRPO on one group of responses, by hand.
import { useState } from 'react'
import { groupAdvantages } from '../../../document/formulas/by_hand.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { notOver, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { ShowChart } from '../parts/ShowChart.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  one_of_four: question(
    'Four responses score 1, 0, 0, 0. What is the advantage of the first? The mean is 0.25, the spread 0.5.',
    [{ text: '1' }, { text: '0.75' }, { text: '1.5', is_right: true }],
    'Yes: (1 − 0.25) / 0.5 = 1.5. The other three get −0.5 each, and the four add up to 0.',
    'Take the mean off the score, then divide by the spread.',
  ),
  all_right: question(
    'All eight responses are right. What does this prompt teach?',
    [
      { text: 'To repeat all of them' },
      { text: 'Nothing: every advantage is 0', is_right: true },
      { text: 'To be sure of the first one' },
    ],
    'Yes. A group without a difference has no gradient, solved or hopeless alike.',
    'Set all eight to right in the table.',
  ),
  train: tryIt(
    'Train GRPO for 20 steps, after 66 of imitation, and look at “Informative groups”: the share of prompts whose responses differ in score.',
    'v=1&p=tiny-grpo&phases.1.steps=20',
    (run) => {
      const shares = valuesIn(run, 'group/informative', wholePhase(run))
      const early = notOver(run)
      if (early) return early
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
      return seen(
        `On average ${formatShare(mean)} of the groups differed. The other ${formatShare(1 - mean)} were sampled and scored, and moved no weight.`,
      )
    },
  ),
}

const START = [1, 0, 0, 1, 0, 0, 0, 0]

/** The lab's own estimator on eight scores. */
function Group() {
  const [scores, setScores] = useState<readonly number[]>(START)
  const [byStd, setByStd] = useState(true)
  const advantages = groupAdvantages(scores, byStd)
  return (
    <div className="by-hand" data-testid="group-by-hand">
      <table>
        <caption className="visually-hidden">Eight responses to one prompt</caption>
        <thead>
          <tr>
            <th scope="col">response</th>
            <th scope="col">score</th>
            <th scope="col">advantage</th>
          </tr>
        </thead>
        <tbody>
          {scores.map((score, i) => (
            <tr key={i}>
              <th scope="row">{i + 1}</th>
              <td>
                <button
                  type="button"
                  aria-pressed={score === 1}
                  onClick={() => setScores(scores.with(i, 1 - score))}
                >
                  {score === 1 ? 'right, 1' : 'wrong, 0'}
                </button>
              </td>
              <td>{formatNumber(advantages[i])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label>
        <input type="checkbox" checked={byStd} onChange={() => setByStd(!byStd)} />
        divide by the spread (Dr. GRPO does not)
      </label>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        How good is a response? A score alone does not say: 0.4 is good on a hard prompt and poor on
        an easy one. <b>GRPO</b> answers without a second network. It samples several responses to{' '}
        <i>the same</i> prompt and compares each with the others:
      </p>
      <Formula tex="A_i = \frac{R_i - \operatorname{mean}(R_1, \dots, R_G)}{\operatorname{std}(R_1, \dots, R_G) + \epsilon}" />
      <p>
        All tokens of response <Formula inline tex="i" /> get the same advantage. Press the scores
        below; the lab’s own estimator computes the right column.
      </p>
      <Group />
      <Ask name="one_of_four" of={parts.one_of_four} />
      <Ask name="all_right" of={parts.all_right} />
      <p>
        Two things follow. A rare right answer weighs more than a common one: with one right of
        eight its advantage is 2.5, with seven right of eight 0.35. And dividing by the spread makes
        prompts that are nearly solved or nearly hopeless count as much as those in the middle. Dr.
        GRPO calls that a bias and leaves the division out.
      </p>
      <p>
        The advantage then weighs the clipped ratio of the next lesson. With one update per batch
        the ratio is exactly 1, and the gradient is simply{' '}
        <Formula inline tex="A_i \nabla \log \pi_\theta(o_i)" />.
      </p>
      <Try name="train" of={parts.train} />
      <ShowChart chart="informative-chart" />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2402.03300', 'Shao et al., DeepSeekMath', section('4.1')),
    arxiv('2503.20783', 'Liu et al., Understanding R1-Zero-Like Training (Dr. GRPO)'),
  ],
}
