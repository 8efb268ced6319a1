// Finds problems of learning from pairs.
import { type DiagnosisRule, type Evidence, short, WINDOW } from './evidence.ts'

/** Nats per answer. In healthy runs of a tiny model the mean of five steps fell by 0.6 at most; at
 * ten times their learning rate by 1.9. */
const FALLEN = 1
const MUCH_FALLEN = 3

/** The margin of a pair grows also where both answers become unlikely. */
export const chosen_logps_fall: DiagnosisRule<Evidence> = (of) => {
  const metric = 'logps/chosen'
  const [early, now] = [of.early(metric), of.recent(metric)]
  if (early === undefined || now === undefined || early - now <= FALLEN) return undefined
  const is_severe = early - now > MUCH_FALLEN
  return {
    is_severe,
    excess: (early - now - FALLEN) / FALLEN,
    title: 'The better answers become unlikely',
    evidence: `Their mean log-prob was ${short(early)} nats in the first ${WINDOW} steps and is ${short(now)} in the last ${WINDOW}.`,
    meaning:
      'The loss compares the two answers of a pair alone. It can fall while both become unlikely, and the policy then writes something that is in no pair.',
    advice: [
      of.advice('optim.lr', 'Lower the learning rate by three to ten times.'),
      of.advice('preference.rpo_alpha', 'Imitate the better answers beside the loss: 0.1 to 1.'),
    ],
    step: of.stepOf(metric),
  }
}
