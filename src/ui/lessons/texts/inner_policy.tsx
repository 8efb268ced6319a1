// Teaches whether an inner policy is a policy, and how one finds out.
import { useState } from 'react'
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import { softmaxEntropy } from '../../../document/formulas/by_hand.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { greedyAccuracy, layerEntropy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { notYet, phaseWhere, seen, valuesIn } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { OpenTab } from '../parts/OpenTab.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  hidden: question(
    'A state moves in a direction that no row of E sees. What can that change?',
    [
      { text: 'Nothing: the inner policy is the same' },
      { text: 'The answer, but not the inner policy', is_right: true },
      { text: 'The inner policy, but not the answer' },
    ],
    'Yes. Blocks above read the state, not the policy that we read from it.',
    'Move the slider, and look at both rows of probabilities.',
  ),
  probe: question(
    'A linear probe tells the carry from layer 2 for 99 % of held-out problems. What follows?',
    [
      { text: 'The model adds in layer 2' },
      { text: 'Layer 2 holds the carry; whether it is used is open', is_right: true },
      { text: 'Layer 2 decides the answer' },
    ],
    'Yes. What can be read need not be used. One has to change it, and look at the answer.',
    'Did the probe change anything in the model?',
  ),
  moved: tryIt(
    'Train the tiny preset: imitation, then four steps in which only the policy of layer 2 is trained. Does the whole model answer differently afterwards?',
    'v=1&p=tiny',
    (run) => {
      const { num_hidden_layers } = run.experiment.model
      const inner = phaseWhere(
        run,
        (phase) => phase.kind === 'rl' && phase.target_layer < num_hidden_layers,
      )
      if (inner < 1) return notYet('This run has no inner phase after another one.')
      const phase = resolvePhases(run.experiment)[inner]
      const layer = phase.kind === 'rl' ? phase.target_layer : 0
      const accuracy = greedyAccuracy(run.experiment.task.id)
      const last = (metric: string, of: number) => valuesIn(run, metric, of).at(-1)
      const before = last(accuracy, inner - 1)
      const after = last(accuracy, inner)
      const entropies = [inner - 1, inner].map((of) => last(layerEntropy(layer), of))
      if (before === undefined || after === undefined || entropies.includes(undefined))
        return notYet('The inner phase is not over yet.')
      const [from, to] = entropies.map(formatNumber)
      return seen(
        `In the inner phase the entropy of layer ${layer} went from ${from} to ${to} nats. The whole model, whose policy no step of it trained, answered ${formatShare(before)} of the held-out problems before and ${formatShare(after)} after.`,
      )
    },
  ),
}

/** Two tokens whose rows of E see the first number of a state alone. */
const E = [1, -1]

function Hidden() {
  const [second, setSecond] = useState(0)
  const state = [0.4, second]
  const inner = softmaxEntropy(E.map((e) => e * state[0])).probabilities
  // A block above: it writes twice the second number into the first.
  const final = softmaxEntropy(E.map((e) => e * (state[0] + 2 * state[1]))).probabilities
  return (
    <div className="by-hand">
      <label>
        the number that E does not see
        <input
          type="range"
          min={-1}
          max={1}
          step={0.05}
          value={second}
          onChange={(event) => setSecond(Number(event.target.value))}
        />
        {second.toFixed(2)}
      </label>
      <p>Inner policy: {inner.map(formatShare).join(', ')}</p>
      <p>Final policy, after a block that reads it: {final.map(formatShare).join(', ')}</p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        The policy of an inner layer is a way to read a state. No token is ever drawn from it:
        responses are written by the last layer, and the blocks in between read the state itself.
      </p>
      <Formula tex="\pi_l = \operatorname{softmax}\!\big( H^l E^\top \big), \qquad H^L = H^l + \sum_{m=l+1}^{L} \big( A^m(H^{m-1}) + F^m(H^{m-1} + A^m) \big)" />
      <p>
        So <Formula inline tex="\pi_l" /> may say little of what the model will do. In the smallest
        example a state has two numbers, and <Formula inline tex="E" /> sees only the first:
      </p>
      <Hidden />
      <Ask name="hidden" of={parts.hidden} />
      <h3>Three ways to find out</h3>
      <ul>
        <li>
          <b>Read it otherwise.</b> A probe is a small classifier on the states of one layer. It
          finds what <Formula inline tex="E" /> does not show. <i>Which layer knows it?</i> fits one
          for every layer, beside one with shuffled labels.
        </li>
        <li>
          <b>Change it.</b> <i>What does each part do?</i> switches parts off,{' '}
          <i>Where does the answer travel?</i> exchanges states between two texts, and{' '}
          <i>What does a direction do?</i> adds a vector. If the answer changes, the state mattered.
        </li>
        <li>
          <b>Train it.</b> An inner phase of BuPO moves <Formula inline tex="\pi_l" /> and leaves
          the blocks above unchanged, bit for bit. What the whole model does then is the answer.
        </li>
      </ul>
      <Ask name="probe" of={parts.probe} />
      <Try name="moved" of={parts.moved} />
      <p>
        A change in the last numbers says that the layers are coupled: through the state, and here
        through the vocabulary’s matrix, which every layer shares. It does not say that the inner
        policy was a good thing to train. When the run is over, the cards are in Inside.
      </p>
      <OpenTab tab="inside">Open Inside</OpenTab>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2512.19673', 'Bottom-up Policy Optimization', 'equations 3 to 5'),
    arxiv('1610.01644', 'Alain and Bengio, Linear classifier probes'),
    arxiv('1909.03368', 'Hewitt and Liang, Designing and interpreting probes with control tasks'),
    arxiv('2202.05262', 'Meng et al., Locating and editing factual associations', section('2')),
  ],
}
