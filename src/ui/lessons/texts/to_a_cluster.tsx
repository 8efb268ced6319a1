// Teaches how the same experiment runs on a cluster.

import { formatSteps } from '../../kit/format.ts'
import { openExport } from '../../open/open_export.ts'
import { REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, phaseWhere, seen, valuesIn } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  layer: question(
    'The lab calls it layer 5. What is verl-BuPO’s internal_layer?',
    [{ text: '5' }, { text: '4', is_right: true }, { text: '6' }],
    'Yes. verl-BuPO counts blocks from 0, the paper and this lab count applied blocks. The exported script has the right one.',
    'One of them counts from 0.',
  ),
  moves: question(
    'What moves from the tab to a cluster without a change?',
    [
      { text: 'The learning rate' },
      { text: 'The algorithm: estimator, loss, clip, KL, the order of phases', is_right: true },
      { text: 'The number of steps' },
    ],
    'Yes. Rates, lengths and steps belong to the model and the data; the README of the job says so for each.',
    'What depends on the size of the model, and what does not?',
  ),
  run: tryIt(
    'Train something with reinforcement first, so that you know what you send: five steps are enough. Then open the export and look through the files of a job.',
    'v=1&p=tiny&phases.2.steps=10',
    (run) => {
      const phase = phaseWhere(run, ({ kind }) => kind === 'rl')
      const steps = valuesIn(run, REWARD, phase).length
      const rest = valuesIn(run, REWARD, phase + 1).length
      if (steps + rest < 5) return notYet(`${steps + rest} of 5 steps of reinforcement so far.`)
      return seen(
        `${formatSteps(steps + rest)} of reinforcement. The export holds this experiment.`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        What is small enough to understand is often too small to matter. So an experiment leaves the
        tab as a <b>job</b>: a folder with a script for verl or TRL, the data or the program that
        makes it, the reward as Python, and a README that says what every setting became.
      </p>
      <ul>
        <li>
          <b>Names carry over.</b> Settings and metrics here have verl’s names:{' '}
          <code>actor.clip_ratio_high</code> is <code>actor_rollout_ref.actor.clip_ratio_high</code>{' '}
          there.
        </li>
        <li>
          <b>What has no counterpart is refused</b>, in a sentence, and not silently left out.
        </li>
        <li>
          <b>BuPO needs a fork.</b> An inner phase runs on verl-BuPO; the exported script sets both
          of its knobs, which must agree.
        </li>
        <li>
          <b>Results come back.</b> Drop the log folder of such a run onto this page, and it appears
          in <i>Runs</i> beside those of the browser.
        </li>
      </ul>
      <Ask name="layer" of={parts.layer} />
      <Ask name="moves" of={parts.moves} />
      <p>
        Before you spend a cluster’s time, spend a tab’s: does the reward score what you mean? Do
        groups differ at all? Does the run survive its learning rate? These three questions cost a
        minute here and a night there.
      </p>
      <Try name="run" of={parts.run} />
      <p>
        <button type="button" onClick={() => openExport()}>
          Open the export
        </button>
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2409.19256', 'Sheng et al., HybridFlow (verl)'),
    {
      title: 'TRL, Transformer Reinforcement Learning',
      where: 'documentation',
      url: 'https://huggingface.co/docs/trl',
    },
  ],
}
