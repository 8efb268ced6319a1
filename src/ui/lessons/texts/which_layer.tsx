// Teaches which layer learned it, by exchanging blocks between two states of a run.
import { useState } from 'react'
import { formatShare } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notOver, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { OpenTab } from '../parts/OpenTab.tsx'
import { Try } from '../parts/Try.tsx'

/** Within a formula. */
const ACCURACY = 'held-out accuracy'
const AFTER = 'after training'
const BEFORE = 'before training'

const parts = {
  all: question(
    'All blocks, the embedding and the final norm of the later state are put into the earlier one. How well does it answer?',
    [
      { text: 'As well as the later state', is_right: true },
      { text: 'Between the two' },
      { text: 'Nobody can know before trying' },
    ],
    'Yes, to the bit: everything was taken, so it is the later state.',
    'What is left of the earlier state?',
  ),
  fails: question(
    'With block 2 of the later state the earlier one answers worse. What does that show?',
    [
      { text: 'Block 2 learned nothing' },
      { text: 'Block 2 and its neighbours changed together', is_right: true },
      { text: 'Block 2 became worse in training' },
    ],
    'Yes. It expects states that only the new neighbours write. So look from both sides.',
    'Which states did block 2 see in its own last steps?',
  ),
  learned: tryIt(
    'Train the tiny model with GRPO to its end. When it is over, open Inside and press “Exchange their parts” in “Which layer learned it?”.',
    'v=1&p=tiny-grpo&phases.1.steps=40',
    (run) => {
      const phase = wholePhase(run)
      if (phase < 1) return notYet('This run has no reinforcement after another phase.')
      const accuracy = greedyAccuracy(run.experiment.task.id)
      const before = valuesIn(run, accuracy, phase - 1).at(-1)
      const after = valuesIn(run, accuracy, phase).at(-1)
      const early = notOver(run)
      if (early || before === undefined || after === undefined)
        return early ?? notYet('No held-out problems were measured.')
      return seen(
        `Held-out accuracy was ${formatShare(before)} before reinforcement and is ${formatShare(after)} now. Which blocks hold the difference? Both states are kept: exchange their parts.`,
      )
    },
  ),
}

/** Held-out accuracy of the state before reinforcement with the blocks up to k of the one after
 * it: lab transplant on this lesson's run, llvmpipe, seed 1, 200 problems. */
const MEASURED = [0.8, 0.875, 0.87, 0.875]
const LATER = 0.885

function Blocks() {
  const [k, setK] = useState(0)
  const last = MEASURED.length - 1
  const words = k === 0 ? 'no block' : k === 1 ? 'block 1' : `blocks 1 to ${k}`
  return (
    <div className="by-hand">
      <label>
        blocks of the later state, from below
        <input
          type="range"
          min={0}
          max={last}
          step={1}
          value={k}
          onChange={(event) => setK(Number(event.target.value))}
        />
        {k}
      </label>
      <p>
        The earlier state with {words} of the later one: {formatShare(MEASURED[k])} of 200 held-out
        problems.
      </p>
      <p>
        That is {formatShare((MEASURED[k] - MEASURED[0]) / (LATER - MEASURED[0]))} of what
        reinforcement gained.
      </p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        After reinforcement every weight is a little different, and the model answers better. Which
        of the changes did that? Their sizes do not say: a large change may do nothing. A{' '}
        <b>transplant</b> asks the model instead. Take the state before and the state after, put
        some blocks of one into the other, and let the mixture answer the same held-out problems:
      </p>
      <Formula
        tex={`a(k) = \\text{${t(ACCURACY)}}\\big( \\underbrace{\\theta'_1, \\dots, \\theta'_k}_{\\text{${t(AFTER)}}},\\; \\underbrace{\\theta_{k+1}, \\dots, \\theta_L}_{\\text{${t(BEFORE)}}} \\big), \\qquad k = 0, \\dots, L`}
      />
      <p>
        <Formula inline tex="a(0)" /> is the state before. Where the curve rises, the blocks below
        were not enough, and the next one brought what was missing. This is what the run of this
        lesson gave, on 200 problems:
      </p>
      <Blocks />
      <p>
        Block 1 alone brings most of it. But 200 problems tell such a difference up to 4 to 5
        points, so the small steps after it may be nothing. The card on the page shows the interval
        of every mixture, paired by problem, and both ways round.
      </p>
      <Ask name="all" of={parts.all} />
      <Ask name="fails" of={parts.fails} />
      <Try name="learned" of={parts.learned} />
      <p>
        The same card takes a state of another run: train BuPO and GRPO with one seed, and exchange
        the blocks of both. It is the causal answer to the question what an inner phase changed. On
        the command line it is <code>lab transplant</code>.
      </p>
      <OpenTab tab="inside">Open Inside</OpenTab>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2512.19673', 'Bottom-up Policy Optimization', 'the inner phase'),
    arxiv(
      '2607.01232',
      'One layer alone recovers most of what reinforcement gains, at 0.5 to 8 billion weights',
    ),
    arxiv('2106.07682', 'Bansal et al., Revisiting model stitching'),
  ],
}
