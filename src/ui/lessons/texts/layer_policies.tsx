// Teaches the policies of the layers, raw and normed.
import { useState } from 'react'
import { softmaxEntropy } from '../../../document/formulas/by_hand.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, seen } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { OpenTab } from '../parts/OpenTab.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  scale: question(
    'A state is doubled in length, its direction kept. What happens to the raw policy of that layer?',
    [
      { text: 'Nothing' },
      { text: 'It becomes surer of the same tokens', is_right: true },
      { text: 'It prefers other tokens' },
    ],
    'Yes: all logits double. The order of the tokens stays, the entropy falls.',
    'Move the slider: it stretches the state.',
  ),
  normed: question(
    'And the policy that is read through the final norm?',
    [{ text: 'It does not change', is_right: true }, { text: 'It becomes surer too' }],
    'Yes. A norm divides the length away. So “surer” in the raw reading can be length alone.',
    'What does RMSNorm do to the length of a vector?',
  ),
  measured: tryIt(
    'Train a few steps of the tiny model. The chart “Entropy of every layer’s policy” has a line for the embedding and for each of its three layers.',
    'v=1&p=tiny-grpo&phases.1.steps=5',
    (run) => {
      const layers = run.experiment.model.num_hidden_layers
      const last = Array.from({ length: layers + 1 }, (_, layer) => {
        const column = run.series.get(layerEntropy(layer))
        return column && column.length > 0 ? column.values[column.length - 1] : Number.NaN
      })
      if (!last.every(Number.isFinite)) return notYet('No step has measured every layer yet.')
      const surest = last.indexOf(Math.min(...last))
      const named = surest === layers ? 'the final policy' : `layer ${surest}`
      return seen(
        `From the embedding up: ${last.map(formatNumber).join(', ')} nats. The surest is ${named}.`,
      )
    },
  ),
}

const LOGITS = [2, 1, 0.5, -0.5]

function Stretch() {
  const [length, setLength] = useState(1)
  const { probabilities, entropy } = softmaxEntropy(LOGITS.map((logit) => logit * length))
  return (
    <div className="by-hand">
      <label>
        length of the state
        <input
          type="range"
          min={0.2}
          max={4}
          step={0.1}
          value={length}
          onChange={(event) => setLength(Number(event.target.value))}
        />
        {length.toFixed(1)}×
      </label>
      <p>Four tokens: {probabilities.map(formatShare).join(', ')}</p>
      <p>Entropy: {formatNumber(entropy)} nats</p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        A transformer is a stack of blocks that all write into one vector per token, the{' '}
        <b>residual stream</b> <Formula inline tex="H^l" />. Only the top is read out: normed, and
        multiplied with the vocabulary’s matrix <Formula inline tex="E" />. But nothing forbids to
        read lower. Every layer then has a policy of its own, as if the model stopped there:
      </p>
      <Formula tex="\pi_l = \operatorname{softmax}\!\big( H^l E^\top \big), \qquad \pi_\theta = \operatorname{softmax}\!\big( \operatorname{norm}(H^L)\, E^\top \big)" />
      <p>
        There are two ways to read. The <b>raw</b> one, on the left, takes the state as it is: this
        is BuPO’s, and what an inner phase trains. The <b>normed</b> one puts the final norm in
        front: this is the “logit lens”. They can disagree, for a simple reason.
      </p>
      <Stretch />
      <Ask name="scale" of={parts.scale} />
      <Ask name="normed" of={parts.normed} />
      <p>
        States grow from block to block, because each block adds to them. So raw entropy often falls
        from layer to layer even where nothing was decided, and the last inner layer can look surer
        than the model itself. The <i>Inside</i> tab therefore shows both readings and the length of
        the states beside each other; the <i>lens</i> in the <i>Tokens</i> tab shows which tokens a
        layer would write.
      </p>
      <Try name="measured" of={parts.measured} />
      <OpenTab tab="inside">Open Inside</OpenTab>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2512.19673', 'Bottom-up Policy Optimization', 'equation 5 and table 6'),
    {
      title: 'nostalgebraist, interpreting GPT: the logit lens',
      where: 'LessWrong, 2020',
      url: 'https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens',
    },
    arxiv('2303.08112', 'Belrose et al., Eliciting latent predictions with the tuned lens'),
  ],
}
