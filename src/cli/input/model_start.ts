// Finds the model that an experiment begins with: one that is given, else the one that the
// experiment names, where it comes with the lab.
import { join } from 'node:path'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { hashedFolder, modelHash } from '../../host/content/models/model_files.ts'
import { shippedModel } from '../../host/content/models/shipped.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { LabFailure } from '../base/command.ts'
import { projectRoot } from '../base/project_root.ts'
import { modelRanges } from './model_dir.ts'

/** The experiment without the model that it names. */
export const withoutStart = (experiment: Experiment): Experiment => ({
  ...experiment,
  model: { ...experiment.model, source: null, source_name: null, source_address: null },
})

/** The folder of the shipped model that an experiment names; undefined where it names none. Throws
 * LabFailure for a model that does not come with the lab, or whose files were changed. */
export async function startFolder({ model }: Experiment): Promise<string | undefined> {
  const { source, source_name } = model
  if (source === null && unopenedModel({ model }) === undefined) return undefined
  const folder = source === null ? undefined : await shippedFolder(source)
  if (folder === undefined)
    throw new LabFailure(
      `this experiment begins with ${source_name ?? source}, which does not come with the lab: give its folder with --model DIR, and rows for its tokenizer with --data FILE`,
    )
  return folder
}

/** The folder of a model that comes with the lab; undefined for any other. Throws LabFailure where
 * its files were changed. */
export async function shippedFolder(source: string): Promise<string | undefined> {
  const shipped = shippedModel(source)
  if (!shipped) return undefined
  const folder = join(projectRoot(), 'public/models', shipped.name)
  const hashed = hashedFolder(modelRanges(folder))
  for (const { name } of shipped.files) await hashed.open(name)
  const found = modelHash(await hashed.files())
  if (found !== source)
    throw new LabFailure(`${folder}: expected the model ${source}, found ${found}`)
  return folder
}
