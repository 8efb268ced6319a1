// Names checkpoints: in the origin-private file system a folder for each run, in a run
// folder `checkpoints`; a file for each step.

export const CHECKPOINT_FOLDER = 'checkpoints'

/** Ids of records; also of those that another version of the page has made. */
const RECORD = /^[\w-]{1,100}$/
const FILE = /^step_(\d{6,9})\.safetensors$/

/** Beside the file that it will be; a page that was closed in between has left it behind. */
export const TEMPORARY = /\.tmp$/

/** Records of runs of a study begin so. They are no runs of the library: a study keeps what it
 * needs of them itself. */
export const STUDY_RECORD = 'study-'

export const isRecord = (id: string): boolean => RECORD.test(id)

/** The name of a run's folder. Throws RangeError for what is no id. */
export function folderOf(record: string): string {
  if (!isRecord(record))
    throw new RangeError(`record: expected letters and digits, got '${record}'`)
  return record
}

export const fileOf = (step: number): string => `step_${`${step}`.padStart(6, '0')}.safetensors`

/** The step of a file; undefined for one that is no checkpoint. */
export function stepOf(name: string): number | undefined {
  const [, digits] = FILE.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** A file for the person at the page. */
export const downloadName = (stem: string, step: number): string =>
  `${stem}.step_${`${step}`.padStart(6, '0')}.safetensors`
