// Finds that there is nothing left to learn from a teacher.
import {
  type DiagnosisRule,
  type Evidence,
  type PhaseEvidence,
  type Point,
  short,
  WINDOW,
} from './evidence.ts'
import type { Finding } from './finding.ts'

/** Nats per token between student and teacher: of a vocabulary of 20 tokens a policy that is this
 * near is told from its teacher by one token in hundreds. */
const CAUGHT_UP = 0.01

/** In all of the last WINDOW steps student and teacher hardly differed; what is said beside that is
 * the kind of phase's own. */
function caughtUp(
  of: Evidence,
  metric: string,
  said: Pick<Finding, 'meaning' | 'advice'>,
): Finding | undefined {
  const last = of.last(metric, WINDOW)
  if (last.length < WINDOW) return undefined
  // A mean over samples falls below 0 too.
  const most = Math.max(...last.map(([, kl]: Point) => Math.abs(kl)))
  if (most > CAUGHT_UP) return undefined
  return {
    is_severe: false,
    excess: 1 - most / CAUGHT_UP,
    title: 'The student has caught up with its teacher',
    evidence: `They differed by at most ${short(most)} nats per token in the last ${WINDOW} steps.`,
    ...said,
    step: of.stepOf(metric),
  }
}

/** Of a phase of distillation: the whole distributions hardly differ. */
export const teacher_caught_up: DiagnosisRule<Evidence> = (of) =>
  caughtUp(of, 'distillation/loss', {
    meaning:
      'What the teacher can teach on these responses is learned: more steps keep the policy where it is.',
    advice: [
      of.advice('steps', 'End the phase here.'),
      of.advice('distillation.teacher', 'Take a teacher that knows more.'),
    ],
  })

/** Of reinforcement whose advantages a teacher changes: its sampled KL is near 0. */
export const sampledTeacherCaughtUp: DiagnosisRule<PhaseEvidence> = (of) => {
  const { use_task_rewards } = of.phase.algorithm
  return caughtUp(of, 'distillation/reverse_kl', {
    meaning: use_task_rewards
      ? 'The teacher says of these samples what the policy says itself: it changes hardly an advantage, and the rewards alone teach the rest.'
      : 'The teacher says of these samples what the policy says itself, and nothing else is rewarded: more steps keep the policy where it is.',
    advice: [
      use_task_rewards
        ? of.advice('algorithm.opd_kl_coef', 'Set it to 0: the teacher’s pass is saved.')
        : of.advice('algorithm.use_task_rewards', 'Let the task’s rewards teach the rest.'),
      of.advice('teacher.source', 'Take a teacher that knows more.'),
    ],
  })
}
