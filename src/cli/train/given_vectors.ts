// Reads the steering vectors that a run begins with, where the command line or the experiment names
// their file.
import { basename } from 'node:path'
import { type ContentFile, contentHash } from '../../document/content/content.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { startVectors } from '../../host/worker/opened/start_weights.ts'
import { beginVectors } from '../../rl/train/begin_vectors.ts'
import { LabFailure } from '../base/command.ts'
import { readInput } from '../input/input_file.ts'

/** The experiment that trains the vectors of a file on, which is put into `bundled`. Throws
 * LabFailure. */
export async function withVectors(
  experiment: Experiment,
  path: string | undefined,
  bundled: ContentFile[],
): Promise<Experiment> {
  if (path === undefined) return experiment
  const bytes = new Uint8Array(readInput(path))
  const file = { hash: await contentHash(bytes), name: basename(path), bytes }
  bundled.push(file)
  const { model } = experiment
  const steering_vectors = {
    ...model.steering_vectors,
    trainable: true,
    source: file.hash,
    source_name: file.name,
  }
  const parsed = parseExperiment({ ...experiment, model: { ...model, steering_vectors } })
  if (parsed.ok) return parsed.experiment
  throw new LabFailure(
    parsed.issues.map((one) => `--vectors: ${one.path}: ${one.message}`).join('\n'),
  )
}

/** Puts the factors of an adapter, or vectors, into a trainer whose weights are there. Throws
 * LabFailure for vectors of another model. */
export async function startBeside(
  experiment: Experiment,
  trainer: Parameters<typeof beginVectors>[0],
  factors: Float32Array | undefined,
): Promise<void> {
  if (factors) trainer.importAdapter(factors)
  await startVectors(experiment, (file) => beginVectors(trainer, file)).catch((error) => {
    throw new LabFailure(error instanceof Error ? error.message : String(error))
  })
}
