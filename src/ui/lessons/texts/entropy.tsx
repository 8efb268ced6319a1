// Teaches how to read entropy.
import { formatNumber, formatShare } from '../../kit/format.ts'
import { layerEntropy, REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  two: question(
    'A policy hesitates between two tokens, half and half. Its entropy?',
    [{ text: '0.5 nats' }, { text: '0.69 nats', is_right: true }, { text: '2 nats' }],
    'Yes: ln 2 = 0.69. With k tokens alike it is ln k.',
    'Put ½ and ½ into the formula.',
  ),
  low: question(
    'The entropy is nearly 0, and the reward is 0 too. What does that mean?',
    [
      { text: 'The policy has converged to the optimum' },
      {
        text: 'It is sure of something wrong, and samples nothing that could teach it',
        is_right: true,
      },
      { text: 'The measurement failed' },
    ],
    'Yes. Sure is not right. All samples are alike, so no group differs, and no gradient leads out.',
    'What does GRPO learn from a group whose responses are all the same?',
  ),
  collapse: tryIt(
    'Break it on purpose: GRPO at ten times the learning rate. Look at entropy and reward together, and at the findings that appear above the charts.',
    'v=1&p=tiny-collapse',
    (run) => {
      const phase = wholePhase(run)
      const reward = endsOf(run, REWARD, phase)
      const entropy = valuesIn(run, layerEntropy(run.experiment.model.num_hidden_layers), phase)
      if (!reward || valuesIn(run, REWARD, phase).length < 20)
        return notYet(`${valuesIn(run, REWARD, phase).length} of 20 steps of reinforcement so far.`)
      const says = `The share of right samples went from ${formatShare(reward.before)} to ${formatShare(reward.after)}, the entropy of the final policy from ${formatNumber(entropy[0])} to ${formatNumber(entropy.at(-1))} nats.`
      return reward.after < reward.before ? seen(says) : notYet(says)
    },
  ),
}

function Body() {
  return (
    <>
      <p>Entropy says how undecided a policy is at a token:</p>
      <Formula tex="H = -\sum_{v} \pi(v) \log \pi(v), \qquad 0 \le H \le \ln |V|" />
      <p>
        0 is certain of one token. <Formula inline tex="\ln |V|" /> is all tokens of the vocabulary
        alike. The page counts in nats, the unit of the natural logarithm.
      </p>
      <Ask name="two" of={parts.two} />
      <h3>Why it falls</h3>
      <p>
        Reinforcement makes sampled good tokens more probable, and tokens that are probable are
        sampled more. So entropy falls while a policy learns, and that is mostly what learning looks
        like. To first order the change of entropy in a step follows the covariance of
        log-probability and advantage: what is already probable <i>and</i> good pulls it down.
      </p>
      <h3>When it is a warning</h3>
      <ul>
        <li>
          It falls to nearly 0 while the reward is still low: nothing new will be sampled any more.
        </li>
        <li>
          It rises while the reward falls: the policy dissolves. The learning rate is too high.
        </li>
        <li>
          It falls in one layer alone: look at the length of the states before you call that a
          decision (lesson “Every layer has a policy”).
        </li>
      </ul>
      <Ask name="low" of={parts.low} />
      <h3>Three ways to misread it</h3>
      <ul>
        <li>
          It is a mean over the tokens that the policy chose itself. Shorter responses change which
          tokens count.
        </li>
        <li>Every step has other prompts: small steps up and down say nothing.</li>
        <li>Entropies of two tasks, or of two vocabularies, cannot be compared as numbers.</li>
      </ul>
      <Try name="collapse" of={parts.collapse} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv(
      '2505.22617',
      'Cui et al., The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models',
    ),
    arxiv('2503.14476', 'Yu et al., DAPO', section('3.1')),
  ],
}
