// Teaches what a group whose responses all score alike costs, and what makes groups differ.
import { useState } from 'react'
import { groupAdvantages } from '../../../document/formulas/by_hand.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { ShowChart } from '../parts/ShowChart.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer steps say little. */
const STEPS = 10

const parts = {
  hopeless: question(
    'The policy solves a prompt once in a hundred tries. How many of its groups of eight teach something?',
    [
      { text: 'About 8 %', is_right: true },
      { text: 'About 50 %' },
      { text: 'All of them, because it is a hard prompt' },
    ],
    'Yes: 1 − 0.99⁸ is 7.7 %. The other groups are eight wrong responses, and cost as much to sample.',
    'Set the rate above to 1 %, and the group to eight.',
  ),
  noise: question(
    'Four responses score 0.500, 0.501, 0.500 and 0.500. Their advantages are divided by the spread. What is the advantage of the second?',
    [
      { text: 'About 0.001' },
      { text: 'About 0.75' },
      { text: 'About 1.5, as if it alone were right', is_right: true },
    ],
    'Nearly: 1.497. Divided by its own spread, a thousandth of a point counts like a whole one. A reward that is noisy in its last digit trains on noise.',
    'The table below divides by the spread. What does it do to a small one?',
  ),
  larger: tryIt(
    'Train GRPO on groups of 16 in place of 4, with as many rollouts in each step. Look at “Informative groups”.',
    'v=1&p=tiny-grpo&phases.1.steps=20&rollout.n=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=4',
    (run) => {
      const shares = valuesIn(run, 'group/informative', wholePhase(run))
      if (shares.length < STEPS)
        return notYet(`${shares.length} of ${STEPS} steps of reinforcement so far.`)
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
      return seen(
        `On average ${formatShare(mean)} of the groups of 16 differed. Compare it with the groups of 4 of the lesson “GRPO by hand”; the price is a quarter of the prompts in each step.`,
      )
    },
  ),
}

const SIZES = [2, 4, 8, 16, 32]

/** The share of groups that differ, of a prompt that is solved at a given rate. */
function Share() {
  const [rate, setRate] = useState(0.2)
  return (
    <div className="by-hand">
      <label>
        how often the policy solves the prompt
        <input
          type="range"
          min={0.01}
          max={0.99}
          step={0.01}
          value={rate}
          onChange={(event) => setRate(Number(event.target.value))}
        />
        {formatShare(rate)}
      </label>
      <table>
        <caption className="visually-hidden">Groups that differ, by their size</caption>
        <thead>
          <tr>
            <th scope="col">responses in a group</th>
            <th scope="col">groups that differ</th>
          </tr>
        </thead>
        <tbody>
          {SIZES.map((n) => (
            <tr key={n}>
              <th scope="row">{n}</th>
              <td>{formatShare(1 - rate ** n - (1 - rate) ** n)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const NEARLY = [0.5, 0.501, 0.5, 0.5]

/** What dividing by the spread makes of scores that hardly differ. */
function Nearly() {
  const [byStd, setByStd] = useState(false)
  const advantages = groupAdvantages(NEARLY, byStd)
  return (
    <div className="by-hand">
      <p>
        Scores {NEARLY.map((score) => score.toFixed(3)).join(', ')}: advantages{' '}
        {advantages.map((advantage) => formatNumber(advantage)).join(', ')}.
      </p>
      <label>
        <input type="checkbox" checked={byStd} onChange={() => setByStd(!byStd)} />
        divide by the spread
      </label>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        An advantage says by how much a response is better than the others of its group. Where all
        of them score alike, there is nothing to say: the advantages are 0, and so is the gradient
        of that prompt. Solved prompts fall silent, and so do hopeless ones. If the policy solves a
        prompt with probability <Formula inline tex="p" />, a group of <Formula inline tex="n" />{' '}
        differs with probability
      </p>
      <Formula tex="1 - p^n - (1 - p)^n" />
      <Share />
      <Ask name="hopeless" of={parts.hopeless} />
      <h3>What one can do</h3>
      <p>
        <b>Larger groups</b> find the rare response, and leave room for fewer prompts.{' '}
        <b>Dynamic sampling</b> (<code>filter_groups</code>, DAPO) draws on until the batch is full
        of groups that differ. <b>A gate on difficulty</b> (<code>data.admission</code>) asks only
        prompts whose measured rate lies between two bounds; the preset{' '}
        <i>Tiny: only problems that still teach</i> does. <b>A finer reward</b> gives part of the
        score for part of the answer, so that two wrong responses can differ.
      </p>
      <h3>Nearly alike is not alike</h3>
      <p>A finer reward has a trap of its own. These four responses are as good as equal:</p>
      <Nearly />
      <Ask name="noise" of={parts.noise} />
      <p>
        Dr. GRPO leaves the division out (<code>norm_adv_by_std_in_grpo</code>), and{' '}
        <code>grpo_batch_std</code> divides by the spread of the whole batch.
      </p>
      <Try name="larger" of={parts.larger} />
      <ShowChart chart="informative-chart" />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2503.14476', 'Yu et al., DAPO', 'section 3.2, dynamic sampling'),
    arxiv('2503.20783', 'Liu et al., Understanding R1-Zero-Like Training (Dr. GRPO)'),
  ],
}
