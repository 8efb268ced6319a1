// lab export --to tensorboard: writes the metrics of a run, or of any log that can be imported, as
// an event file of TensorBoard.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventFileName, eventRecords } from '../../jobs/logs/tensorboard_file.ts'
import { LabFailure } from '../base/command.ts'
import { replaceFile } from '../base/disk.ts'
import { print, tell } from '../base/terminal.ts'
import { readOneRun } from '../logs/log_source.ts'

/** Adds an event file to `folder`, which may hold those of other runs. Throws LabFailure. */
export async function exportEvents(source: string, folder: string): Promise<void> {
  const log = await readOneRun(source)
  for (const remark of log.remarks) tell(remark)
  const wallTime = Date.now() / 1000
  const file = join(folder, eventFileName(wallTime))
  try {
    mkdirSync(folder, { recursive: true })
    replaceFile(file, Buffer.concat([...eventRecords(log.series, wallTime)]))
  } catch (error) {
    throw new LabFailure(`${folder}: ${error instanceof Error ? error.message : error}`)
  }
  print(`Wrote ${file}: ${log.step} steps, ${log.series.size} metrics`)
}
