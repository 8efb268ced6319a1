// Teaches how a teacher says what it makes of the student's own samples.
import { useState } from 'react'
import { formatNumber, formatShare } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { sampledAccuracy } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, phaseWhere, seen, valuesIn } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer steps say little. */
const STEPS = 30

const DIVERGENCE = 'distillation/loss'

/** Within a formula. */
const FORWARD = 'forward KL'
const REVERSE = 'reverse KL'

const parts = {
  own: question(
    'Why does the student write the answers, and not the teacher?',
    [
      { text: 'The student samples faster' },
      { text: 'It is corrected in the places that its own mistakes lead to', is_right: true },
      { text: 'The teacher’s answers are often wrong' },
    ],
    'Yes. In use the student continues its own text, not the teacher’s.',
    'Which texts does the student have to continue later?',
  ),
  limit: question(
    'The divergence is zero. What is known of the student’s answers?',
    [
      { text: 'They are right' },
      { text: 'They are those of the teacher, mistakes included', is_right: true },
      { text: 'They have the largest reward' },
    ],
    'Yes. No answer was checked. A reward, alone or beside the teacher, does that.',
    'Did anybody check an answer?',
  ),
  taught: tryIt(
    'A student of 2 layers writes, and a shipped model of 4 layers says at every token what it would have written. No answer is checked.',
    'v=1&p=tiny-teacher',
    (run) => {
      const phase = phaseWhere(run, ({ kind }) => kind === 'distill')
      const divergence = endsOf(run, DIVERGENCE, phase)
      const count = valuesIn(run, DIVERGENCE, phase).length
      const { task, validation } = run.experiment
      const accuracy = sampledAccuracy(task.id, validation.n)
      const before = valuesIn(run, accuracy, phase - 1).at(-1)
      const after = valuesIn(run, accuracy, phase).at(-1)
      if (!divergence || count < STEPS || before === undefined || after === undefined)
        return notYet(`${count} of ${STEPS} steps of distillation so far.`)
      return seen(
        `The divergence went from ${formatNumber(divergence.before)} to ${formatNumber(divergence.after)} nats per token. Right samples on held-out problems: ${formatShare(before)} after the warm start, ${formatShare(after)} now.`,
      )
    },
  ),
}

/** Likely, possible, and hardly possible: what the teacher says. */
const TEACHER = [0.6, 0.38, 0.02]

const kl = (p: readonly number[], q: readonly number[]): number =>
  p.reduce((sum, x, i) => sum + (x > 0 ? x * Math.log(x / q[i]) : 0), 0)

function Directions() {
  const [share, setShare] = useState(0.1)
  // The student divides the rest between the first two as the teacher does.
  const student = [(1 - share) * 0.6, (1 - share) * 0.4, share]
  return (
    <div className="by-hand">
      <label>
        what the student gives to the token that the teacher hardly writes
        <input
          type="range"
          min={0.01}
          max={0.6}
          step={0.01}
          value={share}
          onChange={(event) => setShare(Number(event.target.value))}
        />
        {formatShare(share)}
      </label>
      <p>
        Teacher: {TEACHER.map(formatShare).join(', ')}. Student:{' '}
        {student.map(formatShare).join(', ')}.
      </p>
      <p>
        Forward KL {formatNumber(kl(TEACHER, student))} nats, reverse KL{' '}
        {formatNumber(kl(student, TEACHER))} nats.
      </p>
    </div>
  )
}

function Body() {
  return (
    <>
      <p>
        A reward says one number about a whole answer. A larger model can say more: at every token,
        how likely it finds each word of the vocabulary. <b>On-policy distillation</b> lets the
        student write, and asks the teacher about the student’s own text.
      </p>
      <Ask name="own" of={parts.own} />
      <h3>Two directions</h3>
      <Formula
        tex={`\\text{${t(FORWARD)}}: \\sum_v T(v) \\log \\frac{T(v)}{S(v)} \\qquad \\text{${t(REVERSE)}}: \\sum_v S(v) \\log \\frac{S(v)}{T(v)}`}
      />
      <p>
        The forward KL asks the student to cover all that the teacher might write. The reverse one
        asks it to write nothing that the teacher would not. A generalized Jensen–Shannon divergence
        lies between both (<code>beta</code>: 0 forward, 1 reverse).
      </p>
      <Directions />
      <h3>As an advantage</h3>
      <p>
        Where only the sampled tokens are asked about, the reverse KL becomes an advantage, and any
        estimator and loss of reinforcement can be below it:
      </p>
      <Formula tex="A_t \leftarrow A_t - c\,\big( \log \pi(y_t) - \log T(y_t) \big)" />
      <p>
        It is the setting <code>opd_kl_coef</code>; with <code>use_task_rewards</code> off the
        teacher is all there is. The preset <i>A teacher in place of the reward</i> does that.
      </p>
      <Ask name="limit" of={parts.limit} />
      <Try name="taught" of={parts.taught} />
      <p>
        A study of the lab, <i>Does a larger teacher help?</i>, gives distillation and GRPO the same
        number of samples: distillation from the teacher of twice the size comes out far ahead. The
        student had a teacher that can do the task; with a teacher that cannot, there is nothing to
        learn from it.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('1503.02531', 'Hinton et al., Distilling the knowledge in a neural network'),
    arxiv('2306.13649', 'Agarwal et al., On-policy distillation of language models (GKD)'),
    arxiv('2306.08543', 'Gu et al., MiniLLM', section('2')),
    {
      title: 'Lu et al., On-policy distillation',
      where: 'Thinking Machines Lab, 2025',
      url: 'https://thinkingmachines.ai/blog/on-policy-distillation/',
    },
  ],
}
