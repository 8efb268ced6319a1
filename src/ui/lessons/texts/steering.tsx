// Teaches what a direction in the residual stream does to what is written.
import { shippedNamed } from '../../../host/content/models/shipped.ts'
import { formatShare } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { TryModel } from '../../open/models/TryModel.tsx'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notOver, notYet, seen } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Within a formula. */
const MEAN = 'mean'
const TOWARD = 'toward it'
const AWAY = 'away from it'

const parts = {
  layer: question(
    'The directions of layer 1 and of layer 4, the last one, are added three times as strong. Which breaks the sentences first?',
    [{ text: 'That of layer 1', is_right: true }, { text: 'That of layer 4' }, { text: 'Neither' }],
    'Yes. Later blocks read what was added and build on it. After the last block nothing reads it but the vocabulary’s matrix.',
    'Which of the two do later blocks still read?',
  ),
  meaning: question(
    'With the direction two in three ends are happy, and none was before. What does that show?',
    [
      { text: 'The model stores its mood along this direction, and nothing else' },
      {
        text: 'The states of such texts differ along it, and adding it has this effect',
        is_right: true,
      },
      { text: 'The model has learned to be kind' },
    ],
    'Yes. It is an effect, and so more than a correlation. But whatever else differed between the two texts lies in the vector, too.',
    'The vector is all that differs between two texts. Is that mood alone?',
  ),
  learned: tryIt(
    'Three vectors of 32 numbers learn from the reward, one for each layer of a model that sorts digits; its weights stay as they are. Train it to its end.',
    'v=1&p=tiny-vectors',
    (run) => {
      const { values = [], length = 0 } =
        run.series.get(greedyAccuracy(run.experiment.task.id)) ?? {}
      const early = notOver(run)
      if (early || length < 2) return early ?? notYet('No held-out problems were measured.')
      const [before, after] = [values[0], values[length - 1]]
      const { num_hidden_layers, hidden_size } = run.experiment.model
      const says = `Held-out accuracy was ${formatShare(before)} before and is ${formatShare(after)} now, by ${num_hidden_layers * hidden_size} numbers that learned.`
      return after > before ? seen(says) : notYet(says)
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        Reinforcement changes the weights until the policy prefers other words. There is a shorter
        way to push it, and nothing learns. Every block writes into the <b>residual stream</b>, one
        vector per token. Take two texts that differ in what you care about, and subtract their mean
        states after one layer:
      </p>
      <Formula
        tex={`v^l = \\text{${t(MEAN)}}_t\\, h^l_t(\\text{${t(TOWARD)}}) - \\text{${t(MEAN)}}_t\\, h^l_t(\\text{${t(AWAY)}})`}
      />
      <p>
        Then let the model write, and add a multiple of that vector after the same layer, to every
        token of every pass:
      </p>
      <Formula tex="h^l_t \;\leftarrow\; h^l_t + \alpha\, v^l" />
      <p>
        Here <Formula inline tex="\alpha" /> is the strength. The storyteller of this page writes
        short stories. Toward: <i>They laughed and danced. Anna was happy.</i> Away:{' '}
        <i>They cried and went home alone. Anna was sad.</i> Of 32 stories that it has to end, it
        ends none happily when it always takes the likeliest word. With the direction of layer 4 at
        strength 2 it ends 66 % of them happily, and the lab’s reader finds no contradiction in any
        of the 32.
      </p>
      <h3>Steer it yourself</h3>
      <ol>
        <li>
          Open the storyteller, tick <i>greedy</i>, and press <i>Continue the text</i>. That is how
          it writes by itself, word by likeliest word.
        </li>
        <li>
          Under <i>Steer it</i> both texts stand there. Press <i>Make the direction</i>, move the
          strength to 2, and press <i>Continue the text</i> again. What is new, the direction made.
        </li>
        <li>Move it to 8. Then choose layer 1 and try 1, 2 and 3.</li>
        <li>Write two texts of your own: a fox and an owl, or a question and an answer.</li>
      </ol>
      <TryModel model={shippedNamed('story')} testid="lesson-steer">
        Open the storyteller
      </TryModel>
      <Ask name="layer" of={parts.layer} />
      <Ask name="meaning" of={parts.meaning} />
      <h3>Vectors that learn</h3>
      <p>
        A direction can also be found by reinforcement: the gradient of the reward moves the
        vectors, and nothing else.
      </p>
      <Try name="learned" of={parts.learned} />
      <p>
        A direction is a cheap experiment before a training run: what one vector can do, a reward
        need not teach. After a run of stories <i>What does a direction do?</i> in the <i>Inside</i>{' '}
        tab says, layer by layer and strength by strength, how the held-out reward changes.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2308.10248', 'Turner et al., Steering Language Models With Activation Engineering'),
    arxiv('2312.06681', 'Panickssery et al., Steering Llama 2 via Contrastive Activation Addition'),
  ],
}
