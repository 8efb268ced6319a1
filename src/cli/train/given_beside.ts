// Reads the steering vectors that a run begins with, and the lenses that it reads layers through,
// where the command line or the experiment names their files.
import { basename } from 'node:path'
import { type ContentFile, contentHash } from '../../document/content/content.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { ModelFileError } from '../../formats/errors.ts'
import { startVectors } from '../../host/worker/opened/start_weights.ts'
import { lensKind } from '../../model/lenses/lens_file.ts'
import { checkLenses } from '../../rl/train/begin_lenses.ts'
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

/** The experiment with the lenses of files, with commas between them, which are put into `bundled`.
 * Throws LabFailure for what is no lens, and for two of one kind. */
export async function withLenses(
  experiment: Experiment,
  paths: string | undefined,
  bundled: ContentFile[],
): Promise<Experiment> {
  if (paths === undefined) return experiment
  const { model } = experiment
  const given: Partial<Record<string, object>> = {}
  for (const path of paths.split(',')) {
    const bytes = new Uint8Array(readInput(path))
    const kind = kindOf(bytes, path)
    if (given[kind]) throw new LabFailure(`--lens: expected one lens of each kind, got ${paths}`)
    const file = { hash: await contentHash(bytes), name: basename(path), bytes }
    bundled.push(file)
    given[kind] = { source: file.hash, source_name: file.name }
  }
  const parsed = parseExperiment({
    ...experiment,
    model: { ...model, lenses: { ...model.lenses, ...given } },
  })
  if (parsed.ok) return parsed.experiment
  throw new LabFailure(parsed.issues.map((one) => `--lens: ${one.path}: ${one.message}`).join('\n'))
}

function kindOf(bytes: Uint8Array, path: string): string {
  try {
    return lensKind(bytes, path)
  } catch (error) {
    if (error instanceof ModelFileError) throw new LabFailure(`--lens: ${error.message}`)
    throw error
  }
}

/** Puts the factors of an adapter, or vectors, into a trainer whose weights are there. Throws
 * LabFailure for vectors or lenses of another model. */
export async function startBeside(
  experiment: Experiment,
  trainer: Parameters<typeof beginVectors>[0] & Parameters<typeof checkLenses>[0],
  factors: Float32Array | undefined,
): Promise<void> {
  if (factors) trainer.importAdapter(factors)
  const start = async () => {
    await startVectors(experiment, (file) => beginVectors(trainer, file))
    await checkLenses(trainer)
  }
  await start().catch((error) => {
    throw new LabFailure(error instanceof Error ? error.message : String(error))
  })
}
