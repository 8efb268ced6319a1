// Makes a run ask for less memory: the one change to offer when the GPU has no room.
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'

/** Sizes that a step's memory grows with. */
const SIZES: ReadonlySet<string> = new Set([
  'train_batch_size',
  'ppo_mini_batch_size',
  'batch_size',
])

function halved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(halved)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SIZES.has(name) && typeof inner === 'number' ? Math.ceil(inner / 2) : halved(inner),
    ]),
  )
}

/** The experiment with half the prompts in every step and mini-batch, in all its phases; undefined
 * where that is no valid experiment, or no smaller one. What was done to a run (`steering`) is left
 * out: its steps are of another run. */
export function smallerExperiment(experiment: Experiment): Experiment | undefined {
  const { steering: _, ...document } = experiment
  const parsed = parseExperiment(halved({ ...document, steering: [] }))
  if (!parsed.ok) return undefined
  const isSame =
    JSON.stringify(parsed.experiment) === JSON.stringify({ ...experiment, steering: [] })
  return isSame ? undefined : parsed.experiment
}
