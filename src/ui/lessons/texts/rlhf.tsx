// Teaches reward models, RLHF with one's own clicks, and how a reward model is hacked.
import { formatNumber, formatShare } from '../../kit/format.ts'
import { HELD_OUT_PREFERENCES, REWARD, TASK_SCORE } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, phaseWhere, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer say little about a person's taste. */
const CLICKS = 16

const parts = {
  scale: question(
    'A reward model gives one response 7.2 and another 6.2. What is known?',
    [
      { text: 'The first is right 72 % of the time' },
      { text: 'It expects the first to be preferred, with probability 0.73', is_right: true },
      { text: 'Both are good' },
    ],
    'Yes: σ(7.2 − 6.2) = 0.73. Only differences mean something; adding 5 to every score changes nothing.',
    'Put the two scores into the formula above.',
  ),
  goodhart: question(
    'The reward model’s score still rises, and the task’s own score falls. What is happening?',
    [
      { text: 'The policy found responses that the reward model misjudges', is_right: true },
      { text: 'The task became harder' },
      { text: 'The learning rate is too small' },
    ],
    'Yes. That is reward hacking: what is measured is no longer what was meant.',
    'The task is the same. Who judges, and who is judged?',
  ),
  clicks: tryIt(
    `Be the reward: after the warm start you are shown two sums at a time. Press A or B ${CLICKS} times or more; then a reward model learns your taste, and the policy follows it.`,
    'v=1&p=rlhf-clicks',
    (run) => {
      if (run.verdicts < CLICKS)
        return notYet(
          run.verdicts === 0
            ? 'The warm start comes first; then you are asked.'
            : `${run.verdicts} of ${CLICKS} verdicts so far.`,
        )
      const model = phaseWhere(run, ({ kind }) => kind === 'reward_model')
      const accuracy = valuesIn(run, HELD_OUT_PREFERENCES, model).at(-1)
      const rl = valuesIn(run, REWARD, wholePhase(run)).length
      if (rl < 5) return notYet('Your verdicts are in. Wait for five steps of reinforcement.')
      return seen(
        `You gave ${run.verdicts} verdicts. The reward model orders ${formatShare(accuracy)} of held-out pairs as you would, and the policy has followed it for ${rl} steps.`,
      )
    },
  ),
  hacked: tryIt(
    'Now without the leash: the task as judge of pairs, and no KL. Compare the reward model’s score with the task’s own.',
    'v=1&p=rlhf-tiny&algorithm.use_kl_in_reward=false&phases.2.steps=60',
    (run) => {
      const phase = wholePhase(run)
      const score = endsOf(run, REWARD, phase)
      const task = endsOf(run, TASK_SCORE, phase)
      if (!score || !task || valuesIn(run, REWARD, phase).length < 30)
        return notYet(`${valuesIn(run, REWARD, phase).length} of 30 steps of reinforcement so far.`)
      const says = `The reward model’s score went from ${formatNumber(score.before)} to ${formatNumber(score.after)}; the task’s own score from ${formatShare(task.before)} to ${formatShare(task.after)}.`
      return seen(
        `${says} ${task.after < task.before ? 'That is hacking.' : 'No hacking so far: here the two still agree. A smaller reward model, or more steps, can part them.'}`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        For most of what people want there is no program that scores it. But people can say which of
        two responses they prefer. Which end is better, <i>At last they found the kite</i> or{' '}
        <i>Nobody ever saw the kite again</i>? You know at once, and could hardly write down why. A{' '}
        <b>reward model</b> learns from such pairs: the same transformer, with one number per
        response in place of the vocabulary. Bradley and Terry’s model turns two scores into a
        probability:
      </p>
      <Formula tex="P(a \succ b) = \sigma(s_a - s_b), \qquad L = -\log \sigma(s_\text{preferred} - s_\text{other})" />
      <p>
        A coin has a loss of <Formula inline tex="\ln 2 = 0.69" />. Below that, it learned
        something.
      </p>
      <Ask name="scale" of={parts.scale} />
      <p>
        Reinforcement then runs on the reward model’s score instead of a program’s. That is RLHF: a
        warm start, a reward model, reinforcement with a KL to where it began.
      </p>
      <Try name="clicks" of={parts.clicks} />
      <h3>How it is hacked</h3>
      <p>
        The reward model saw pairs of the <i>old</i> policy. The new one writes other text, and
        somewhere the reward model is wrong about it. Reinforcement looks for exactly these places,
        because they score well. The more it optimises, the further the score and what it stood for
        part (Goodhart’s law). A KL to the reference keeps the policy where the reward model has
        seen something.
      </p>
      <Ask name="goodhart" of={parts.goodhart} />
      <p>
        In real RLHF nobody has the second curve. Here the task knows the truth, so the page can
        draw both.
      </p>
      <Try name="hacked" of={parts.hacked} />
      <h3>The same clicks without a reward model</h3>
      <p>
        DPO leaves the reward model out. It takes the log ratio of policy and reference as the
        reward, and puts it into the same loss. So a step needs pairs, and no samples, critic or
        advantages:
      </p>
      <Formula tex="r(y) = \beta \log \frac{\pi(y)}{\pi_\text{ref}(y)}, \qquad L = -\log \sigma(r_\text{preferred} - r_\text{other})" />
      <p>
        The preset <i>Tiny: DPO with your own clicks</i> begins with the warm start of the first run
        above and asks about the same pairs. Put the recorded verdicts of one run into the other,
        and both learn from the same clicks.
      </p>
      <p>
        In words: the preset <i>Stories: DPO with your own clicks</i> asks you which of two ends of
        a story is better, ten times or more.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('1706.03741', 'Christiano et al., Deep reinforcement learning from human preferences'),
    arxiv('2203.02155', 'Ouyang et al., InstructGPT'),
    arxiv('2305.18290', 'Rafailov et al., Direct Preference Optimization'),
    arxiv('2210.10760', 'Gao et al., Scaling laws for reward model overoptimization'),
  ],
}
