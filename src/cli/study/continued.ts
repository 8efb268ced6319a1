// Begins a study with the model of another run: its sizes, and the hash of its weights, become the
// base's, so that runs from other weights are other runs.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Study } from '../../document/study/study.ts'
import { LabFailure } from '../base/command.ts'
import { isOfRun, readCheckpointModel } from '../train/resume.ts'

/** A study, and what `lab train --model` begins each of its runs with. */
export interface Continued {
  readonly study: Study
  readonly start: string | undefined
}

/** Throws LabFailure where there is no such run, or where its model is of another vocabulary. */
export async function continued(study: Study, file: string): Promise<Continued> {
  if (study.continues === undefined) return { study, start: undefined }
  const start = resolve(dirname(file), study.continues)
  const place = `${file}: continues`
  if (typeof study.base === 'string')
    throw new LabFailure(`${place}: expected a base that is a document, found ${study.base}`)
  if (!existsSync(start) || !isOfRun(start))
    throw new LabFailure(
      `${place}: expected a checkpoint or the folder of a run, found none at ${start}`,
    )
  const parsed = parseExperiment(study.base)
  if (!parsed.ok)
    throw new LabFailure(`${place}: the base is no experiment: ${parsed.issues[0].message}`)
  const { sizes } = await readCheckpointModel(start, parsed.experiment, place)
  return { study: { ...study, base: { ...study.base, model: sizes } }, start }
}
