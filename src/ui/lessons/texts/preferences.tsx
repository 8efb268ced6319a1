// Teaches learning from preferences without a reward model, beside a reward model and PPO.
import { formatNumber, formatShare } from '../../kit/format.ts'
import { HELD_OUT_REWARDS, sampledAccuracy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, phaseWhere, seen, valuesIn } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer steps say little. */
const STEPS = 40

const parts = {
  falls: question(
    'The margin grows, and the log-probability of the better answers falls. What happened?',
    [
      { text: 'The loss is wrong: it should raise the better answers' },
      { text: 'The worse answers fell faster; some third answer became likelier', is_right: true },
      { text: 'The reference policy moved' },
    ],
    'Yes. The loss sees differences alone. What both answers lose goes to answers that nobody compared.',
    'Both log-probabilities can fall. What must then grow?',
  ),
  fresh: question(
    'DPO trains for long on pairs that an early policy wrote. What can it not learn?',
    [
      { text: 'Which of the two answers is better' },
      { text: 'What is wrong with the answers that it writes by now', is_right: true },
      { text: 'To stay close to the reference' },
    ],
    'Yes. Nobody judged those. Fresh pairs, or a reward model that judges new samples, see them.',
    'Who wrote the answers that were judged?',
  ),
  margins: tryIt(
    'Train DPO on pairs that the policy makes every few steps and the task judges. Look at margins, at both log-probabilities, and at held-out samples.',
    'v=1&p=dpo-tiny',
    (run) => {
      const phase = phaseWhere(run, ({ kind }) => kind === 'preference')
      const better = endsOf(run, 'logps/chosen', phase)
      const worse = endsOf(run, 'logps/rejected', phase)
      const count = valuesIn(run, 'logps/chosen', phase).length
      const right = valuesIn(
        run,
        sampledAccuracy(run.experiment.task.id, run.experiment.validation.n),
        phase,
      )
      if (!better || !worse || count < STEPS || right.length < 2)
        return notYet(`${count} of ${STEPS} steps on pairs so far.`)
      return seen(
        `The log-probability of better answers went from ${formatNumber(better.before)} to ${formatNumber(better.after)} nats, that of worse ones from ${formatNumber(worse.before)} to ${formatNumber(worse.after)}. The policy prefers the better of ${formatShare(valuesIn(run, HELD_OUT_REWARDS, phase).at(-1))} of held-out pairs, and ${formatShare(right.at(-1))} of its held-out samples are right, ${formatShare(right[0])} when it began.`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        A person compares two answers. RLHF makes a reward model of such pairs and then runs PPO
        against it, with a KL to the policy that it began with. The policy that solves this problem
        exactly has a known form:
      </p>
      <Formula tex="\pi^*(y) = \frac{1}{Z}\, \pi_\text{ref}(y)\, e^{r(y)/\beta} \quad\Longrightarrow\quad r(y) = \beta \log \frac{\pi^*(y)}{\pi_\text{ref}(y)} + \beta \log Z" />
      <p>
        In a comparison of two answers to one prompt, <Formula inline tex="Z" /> cancels. So{' '}
        <b>DPO</b> puts the log ratio in place of the reward model’s score, into the same loss:
      </p>
      <Formula tex="L = -\log \sigma\!\Big( \beta \log \frac{\pi(y_w)}{\pi_\text{ref}(y_w)} - \beta \log \frac{\pi(y_l)}{\pi_\text{ref}(y_l)} \Big)" />
      <p>
        What it saves: a second model, a critic, sampling and advantages. What it gives up: a reward
        model can judge answers that the policy writes <i>later</i>.
      </p>
      <Ask name="fresh" of={parts.fresh} />
      <h3>What the others change</h3>
      <ul>
        <li>
          <b>IPO</b> asks for a margin of a fixed size, so pairs that all agree do not drive it to
          infinity. <b>Hinge</b> stops at a margin too.
        </li>
        <li>
          <b>cDPO</b> and <b>robust DPO</b> expect some verdicts to be wrong (
          <code>label_smoothing</code>
          ).
        </li>
        <li>
          <b>SimPO</b>, <b>CPO</b> and <b>ORPO</b> need no reference. SimPO takes the mean
          log-probability of a token, so long answers gain nothing by their length.
        </li>
        <li>
          <b>KTO</b> needs no pairs: each answer is good or bad alone.
        </li>
      </ul>
      <Ask name="falls" of={parts.falls} />
      <Try name="margins" of={parts.margins} />
      <h3>Beside a reward model and PPO</h3>
      <p>
        The presets <i>RLHF with your own clicks</i> and <i>DPO with your own clicks</i> begin with
        the same warm start and ask about the same pairs, so the recorded verdicts of one run can be
        put into the other. Two studies of the lab train both on the same pairs, in Study:{' '}
        <i>DPO or a reward model and PPO?</i>, and the same with settings that a search chose for
        each. Both find DPO on fresh pairs better; between DPO on the first pairs and PPO they find
        no difference.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2305.18290', 'Rafailov et al., Direct Preference Optimization', section('4')),
    arxiv('2310.12036', 'Azar et al., A general theoretical paradigm (IPO)'),
    arxiv('2402.01306', 'Ethayarajh et al., KTO'),
    arxiv('2405.14734', 'Meng et al., SimPO'),
    arxiv('2404.10719', 'Xu et al., Is DPO superior to PPO for LLM alignment?'),
  ],
}
