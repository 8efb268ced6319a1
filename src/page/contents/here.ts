// Holds the files in memory that experiments name, and says what of those that are not there.
import { createStore } from 'zustand/vanilla'
import type { ContentFile, NamedContent } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { contentNames } from '../../host/content/named.ts'

export interface Contents {
  /** none: no file is named. broken: the files are here and do not hold what the experiment says of
   * them. */
  readonly status: 'none' | 'looking' | 'here' | 'missing' | 'broken'
  /** The files to ask for. */
  readonly missing: readonly NamedContent[]
  /** Why the files cannot be used, or why a dropped one is not one of them. */
  readonly problem: string | undefined
}

/** Of an experiment that names no files. */
export const NO_CONTENTS: Contents = { status: 'none', missing: [], problem: undefined }
export const contentsStore = createStore<Contents>(() => NO_CONTENTS)

/** Files in memory by hash: those of the settings and of the run. */
export const here = new Map<string, ContentFile>()

/** The files that an experiment names, for its worker; undefined while one of them is not here, or
 * a model is to be opened. */
export function contentsOf(experiment: Experiment): readonly ContentFile[] | undefined {
  if (unopenedModel(experiment) !== undefined) return undefined
  const files = contentNames(experiment).map(({ hash }) => here.get(hash))
  return files.every((file) => file !== undefined) ? files : undefined
}
