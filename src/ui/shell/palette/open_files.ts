// Reads the files that a person opens or drops, by what they hold.
import { everyIssue } from '../../../document/experiment/every_issue.ts'
import { experimentIn, parseExperiment } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { CAN_IMPORT } from '../../../jobs/logs/base/log_kinds.ts'
import { openExperiment } from '../../../page/client/opening.ts'
import { contentsStore } from '../../../page/contents/here.ts'
import { openingLocked } from '../../../page/state/share_store.ts'
import { isData, openData } from '../../data/open_data.ts'
import { foreignProblem } from '../../kit/foreign.ts'
import { fileStore } from '../../open/file_store.ts'
import { closePast } from '../../open/opened_run.ts'
import { offerFile } from '../../runs/checkpoints/continue_run.ts'
import { issuesWords } from '../../shown/names/refused.ts'
import { showToast } from '../../shown/store.ts'
import { droppedFiles } from './dropped.ts'

/** Far above any experiment, far below what would hold up the page. */
const MAX_BYTES = 1_000_000

const CAN_OPEN =
  'Experiments can be opened here, as JSON: what “Save experiment as JSON” writes, the experiment.json of a run folder, or the understory.json of an exported job; checkpoints of runs, as .safetensors; bundles, as .zip; and rows or text to train on, as JSON lines, JSON, CSV, Parquet or plain text. ' +
  CAN_IMPORT

/** What no file of an experiment is without. */
const NEEDED = ['version', 'phases', 'task', 'model', 'seed', 'actor', 'rollout']

type Read =
  | { readonly ok: true; readonly experiment: Experiment }
  | { readonly ok: false; readonly problems: readonly string[] }

/** The experiment that a file holds, or what is wrong with it, by field. */
export function readExperimentText(text: string): Read {
  let document: unknown
  try {
    document = experimentIn(JSON.parse(text))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { ok: false, problems: [`It is not JSON: ${why}.`, CAN_OPEN] }
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return { ok: false, problems: ['It contains no experiment.', CAN_OPEN] }
  const parsed = parseExperiment(document)
  if (parsed.ok) return parsed
  const problems = issuesWords(everyIssue(document, parsed.issues))
  // Its fields are of something else: what is wrong with them says nothing.
  if (!NEEDED.some((field) => field in document))
    return { ok: false, problems: ['It is neither a log nor an experiment.', CAN_OPEN] }
  return { ok: false, problems }
}

/** Opens a file in the settings. What is wrong with it is shown, and then nothing is changed. */
export async function openFile(file: File): Promise<void> {
  const refuse = (problems: readonly string[]) =>
    fileStore.setState({ problem: { name: file.name, problems } })
  const locked = openingLocked()
  if (locked !== undefined)
    return refuse([
      locked,
      'No file can be opened until it is unlocked or the recording is closed.',
    ])
  if (/\.safetensors$/i.test(file.name)) {
    const foreign = await foreignProblem(file)
    if (foreign !== undefined) return refuse([foreign])
    const problems = await offerFile(file)
    fileStore.setState({ problem: undefined })
    return problems.length > 0 ? refuse([...problems, CAN_OPEN]) : undefined
  }
  if (contentsStore.getState().missing.length > 0) {
    const { bringFile } = await import('../../../page/contents/content_files.ts')
    if (await bringFile(file)) return
  }
  if (/\.(js|mjs|py)$/i.test(file.name)) {
    const { takeProgram } = await import('../../settings/rewards/take_program.ts')
    const problems = await takeProgram(file)
    fileStore.setState({ problem: undefined })
    return problems.length > 0 ? refuse(problems) : undefined
  }
  if (/\.zip$/i.test(file.name)) {
    // Only some visitors have bundles to bring, or logs.
    const { zipHolds } = await import('../../runs/imports/zip_logs.ts')
    const holds = await zipHolds(file)
    if ('seems' in holds && !holds.hasNoLog) return refuse([holds.seems, CAN_OPEN])
    if ('files' in holds) return openFiles(holds.files, file.name)
    const { openBundle } = await import('../../data/bundles.ts')
    const problems = await openBundle(file)
    return problems.length > 0 ? refuse(problems) : fileStore.setState({ problem: undefined })
  }
  if (await isData(file).catch(() => false)) {
    fileStore.setState({ problem: undefined })
    return openData(file)
  }
  const foreign = await foreignProblem(file)
  if (foreign !== undefined) return refuse([foreign, CAN_OPEN])
  // Only some visitors have logs to bring.
  const { importLog } = await import('../../runs/imports/import_log.ts')
  const imported = await importLog([file], file.name)
  if (imported !== undefined)
    return imported.length > 0 ? refuse(imported) : fileStore.setState({ problem: undefined })
  if (!/\.json$/i.test(file.name) && file.type !== 'application/json')
    return refuse(['It is not a JSON file.', CAN_OPEN])
  if (file.size > MAX_BYTES) return refuse(['It is too large for an experiment.', CAN_OPEN])
  let text: string
  try {
    text = await file.text()
  } catch {
    return refuse(['The browser could not read it.'])
  }
  // Only some visitors are taught.
  const { openTaughtFile } = await import('../../course/taught_files.ts')
  const taught = openTaughtFile(text)
  if (taught) return taught.length > 0 ? refuse(taught) : fileStore.setState({ problem: undefined })
  const read = readExperimentText(text)
  if (!read.ok) return refuse(read.problems)
  const refused = openExperiment(read.experiment, file.name)
  if (refused !== undefined) return refuse([refused])
  closePast()
  fileStore.setState({ problem: undefined })
  showToast(`Opened ${file.name}. Undo brings the settings back.`)
}

/** Opens a file, or the files of a folder; `name` is the folder's, where it is known. */
export async function openFiles(files: readonly File[], name?: string): Promise<void> {
  if (files.length < 2) return files[0] && openFile(files[0])
  const { openFolder } = await import('../../runs/imports/open_folder.ts')
  const refused = await openFolder(files, name)
  fileStore.setState({ problem: refused })
}

/** Opens what was dropped: its files, and the entries that say which are folders. */
export async function openDropped(
  files: readonly File[],
  entries: readonly FileSystemEntry[],
): Promise<void> {
  const dropped = await droppedFiles(files, entries)
  await openFiles(dropped.files, dropped.name)
}
