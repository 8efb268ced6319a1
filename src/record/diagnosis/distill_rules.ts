// Finds that there is nothing left to learn from a teacher.
import { type DiagnosisRule, type Evidence, short, WINDOW } from './evidence.ts'

/** Nats per token between student and teacher: of a vocabulary of 20 tokens a policy that is this
 * near is told from its teacher by one token in hundreds. */
const CAUGHT_UP = 0.01

/** In all of the last WINDOW steps student and teacher hardly differed. */
export const teacher_caught_up: DiagnosisRule<Evidence> = (of) => {
  const metric = 'distillation/loss'
  const last = of.last(metric, WINDOW)
  if (last.length < WINDOW) return undefined
  const most = Math.max(...last.map(([, loss]) => loss))
  if (most > CAUGHT_UP) return undefined
  return {
    is_severe: false,
    excess: 1 - most / CAUGHT_UP,
    title: 'The student has caught up with its teacher',
    evidence: `They differed by at most ${short(most)} nats per token in the last ${WINDOW} steps.`,
    meaning:
      'What the teacher can teach on these responses is learned: more steps keep the policy where it is.',
    advice: [
      of.advice('steps', 'End the phase here.'),
      of.advice('distillation.teacher', 'Take a teacher that knows more.'),
    ],
    step: of.stepOf(metric),
  }
}
