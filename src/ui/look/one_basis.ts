// Decides, where a look meets what the run measured itself at the same step, whose numbers stay.
import type { Observation } from '../../host/protocol/observation.ts'

/** What was seen at a step that has been looked into. Means over a look's own tokens (right answers
 * to held-out problems) never replace those over the run's own, where these are as many: beside
 * them a figure would seem to have changed. */
export function onOneBasis(own: Observation | undefined, looked: Observation): Observation {
  if (!own || own.rows === looked.rows) return looked
  const { rows, tokens, mean, std, layer, readings } = own
  const names = Object.keys(looked.mean) as (keyof typeof mean)[]
  const isWhole =
    names.every((name) => mean[name] !== undefined) &&
    (looked.mean.kl_of_layer === undefined || looked.layer === layer) &&
    (looked.readings === undefined || readings !== undefined)
  if (!isWhole) return looked
  return {
    ...looked,
    ...(rows && { rows }),
    tokens,
    mean,
    std,
    layer,
    ...(readings && { readings }),
  }
}
