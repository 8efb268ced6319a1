// Finds that an entropy bonus does not bring the policy to its target.
import { type DiagnosisRule, percent, SOLVED, short } from './evidence.ts'

/** Steps that a weight has to bring the entropy up. */
const PATIENCE = 30
/** A share of the target below which it counts as missed: a bonus that holds the target goes to and
 * fro around it. */
const MISSED = 0.8

/** In all of the last PATIENCE steps the entropy was well below its target. */
export const entropy_target_missed: DiagnosisRule = (of) => {
  const { use_adaptive_entropy, entropy_target, entropy_coef_max } = of.phase.actor
  const metric = 'actor/entropy'
  if (!use_adaptive_entropy || (of.recent(of.score) ?? 0) > SOLVED) return undefined
  const last = of.last(metric, PATIENCE)
  if (last.length < PATIENCE) return undefined
  const highest = Math.max(...last.map(([, entropy]) => entropy))
  if (highest >= MISSED * entropy_target) return undefined
  const [[, weight] = [0, 0]] = of.last('actor/entropy_coeff', 1)
  const isAtMost = weight >= entropy_coef_max
  return {
    is_severe: false,
    excess: 1 - highest / (MISSED * entropy_target),
    title: 'The entropy does not reach its target',
    evidence: `It was at most ${short(highest)} nats per token in the last ${PATIENCE} steps, ${percent(highest / entropy_target)} of the target of ${short(entropy_target)}; the bonus has a weight of ${short(weight)}.`,
    meaning: isAtMost
      ? 'The weight of the bonus has reached its upper bound and is still too small beside what the rewards ask for.'
      : 'The weight of the bonus grows too slowly for this run, or the policy has already become too sure of itself.',
    advice: [
      isAtMost
        ? of.advice('actor.entropy_coef_max', 'Allow a larger weight.')
        : of.advice(
            'actor.entropy_coef_delta',
            'Let the weight grow faster, by three to ten times.',
          ),
      of.advice('actor.entropy_target', 'Lower the target to what the task leaves open.'),
    ],
    step: of.stepOf(metric),
  }
}
