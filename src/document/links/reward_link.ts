// Writes the parts of a reward into a link: their list as JSON.
import { jsonOf } from '../../formats/json.ts'
import { parseExperiment } from '../experiment/experiment.ts'
import { partsSchema } from '../experiment/lists/reward_schema.ts'
import type { Experiment } from '../experiment/schema/schema.ts'

/** The experiment with the parts that a link says; as it was, with a notice, where they cannot be
 * read. */
export function withParts(
  start: Experiment,
  text: string | undefined,
  notices: string[],
): Experiment {
  if (text === undefined) return start
  const read = partsSchema.safeParse(jsonOf(text))
  const parsed = parseExperiment({ ...start, reward: { ...start.reward, parts: read.data ?? '' } })
  if (parsed.ok) return parsed.experiment
  notices.push(`reward.parts: ${parsed.issues[0].message}. Kept the preset’s.`)
  return start
}
