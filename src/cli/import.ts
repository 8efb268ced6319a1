// lab import: a log of another trainer as a run that the page shows beside its own.
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ImportedLog, LogError } from '../lab/jobs/logs/imported_log.ts'
import type { Pieces } from '../lab/jobs/logs/lines.ts'
import { logFiles } from '../lab/jobs/logs/log_files.ts'
import { HEAD_BYTES, logKind, noLog, readLog } from '../lab/jobs/logs/read_log.ts'
import { importedRunText } from '../lab/jobs/logs/run_file.ts'
import { type Command, LabFailure, UsageError } from './command.ts'
import { replaceFile } from './output/disk.ts'
import { print, tell } from './terminal.ts'

export const importRun: Command = {
  usage:
    '<metrics.jsonl | trainer_state.json | event file | folder of one, or of verl’s validation generations> --out FILE.jsonl',
  summary:
    'makes a run of a log of verl, TRL or TensorBoard; drop the file on the page to see it beside the page’s own runs',
  run: async (args) => {
    const { source, out } = readOptions(args)
    const log = await readSource(source)
    for (const remark of log.remarks) tell(remark)
    try {
      replaceFile(out, importedRunText(log))
    } catch (error) {
      throw new LabFailure(`--out: ${error instanceof Error ? error.message : error}`)
    }
    print(`Wrote ${out}: ${log.step} steps, ${log.series.size} metrics`)
    return 0
  },
}

function readOptions(args: readonly string[]): { source: string; out: string } {
  try {
    const options = { out: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    if (positionals.length !== 1) throw new Error('import takes one file or folder')
    if (!values.out) throw new Error('import needs --out FILE')
    return { source: positionals[0], out: values.out }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}

/** Reads a log. Throws LabFailure for what is none. */
export async function readSource(source: string): Promise<ImportedLog> {
  if (!existsSync(source)) throw new LabFailure(`${source}: no such file or folder`)
  try {
    const files = statSync(source).isDirectory()
      ? logFiles(readdirSync(source), source).map((name) => join(source, name))
      : [source]
    const kind = logKind(basename(files[0]), await headOf(files[0]))
    if (!kind) throw noLog(source)
    return await readLog(
      kind,
      files.map((file) => ({ name: basename(file), pieces: () => piecesOf(file) })),
    )
  } catch (error) {
    if (error instanceof LogError)
      throw new LabFailure(
        error.message.startsWith(source) ? error.message : `${source}: ${error.message}`,
      )
    throw error
  }
}

async function headOf(file: string): Promise<Uint8Array> {
  for await (const piece of createReadStream(file, { end: HEAD_BYTES - 1 })) return piece
  return new Uint8Array()
}

const piecesOf = (file: string): Pieces => createReadStream(file)
