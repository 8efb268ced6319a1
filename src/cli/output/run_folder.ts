// Writes the files of `train --out DIR`. Lines are written as they come, so a run that is cut short
// keeps them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Series } from '../../host/columns/series.ts'
import { thinnedOf } from '../../host/columns/thinning.ts'
import type { Observation } from '../../host/protocol/observation.ts'
import type { Generation, Metrics, RolloutSample } from '../../host/protocol/results.ts'
import { metricsCsv } from '../../record/files/metrics_file.ts'
import { observationLine } from '../../record/files/observation_file.ts'
import { LabFailure } from '../base/command.ts'
import {
  attempt,
  type Disk,
  nodeDisk,
  reason,
  replaceFile,
  UNFINISHED,
  writeWhole,
} from '../base/disk.ts'
import { clearUnfinished } from './checkpoint_files.ts'
import { cutLines, tableOfLines } from './line_file.ts'
import { LineLog } from './line_log.ts'
import { clearRun, RESERVE, RUN_FILES } from './out_folder.ts'
import type { RunFacts } from './run_facts.ts'

/** Samples kept of each step. */
const SAMPLES = 4

/** Bytes kept free for the last record of a run: run.json, the lines that wait. */
const RESERVE_BYTES = 2 ** 18
const RESERVE_LINE = 'Room for the last record of this run. The lab deletes this file at the end.\n'

/** What a folder writes with. */
export interface FolderOptions {
  readonly disk?: Disk
  /** Hears, in sentences, what could not be written; the run continues. */
  readonly tell?: (sentence: string) => void
}

/** Once it is open nothing of it throws: a run does not end because it cannot be written down. */
export class RunFolder {
  readonly folder: string
  readonly #disk: Disk
  readonly #tell: (sentence: string) => void
  readonly #metrics: LineLog
  readonly #samples: LineLog
  /** Files that begin with their first line, by name. */
  readonly #begun = new Map<string, LineLog>()
  /** Lines that came while their file could not be opened, by name. */
  readonly #unopened = new Map<string, number>()
  /** Why run.json or metrics.csv is not what it should be. */
  readonly #failed = new Map<string, string>()

  private constructor(folder: string, flags: 'w' | 'a', { disk, tell }: FolderOptions) {
    this.folder = folder
    this.#disk = disk ?? nodeDisk
    this.#tell = tell ?? (() => {})
    this.#metrics = this.#log(RUN_FILES.metrics, flags)
    this.#samples = this.#log(RUN_FILES.samples, flags)
  }

  /** Begins a run in a folder that is this process's own (lockFolder); `replaced` are files of an
   * earlier run in it (refuseOut), which are deleted. Throws LabFailure where the disk has no room
   * to begin. */
  static create(
    folder: string,
    experiment: Experiment,
    { replaced = [], ...options }: FolderOptions & { readonly replaced?: readonly string[] } = {},
  ): RunFolder {
    return writable(folder, () => {
      clearRun(folder, replaced)
      const own = new RunFolder(folder, 'w', options)
      own.#opened(() => own.#writeJson(RUN_FILES.experiment, experiment))
      return own
    })
  }

  /** Opens the folder of a run that continues after `step`: what was written of later steps, or was
   * cut off in the middle of a line, is taken out. `lastStep` is the last one whose metrics are
   * there; -1 where there are none. */
  static reopen(
    folder: string,
    step: number,
    options: FolderOptions = {},
  ): { folder: RunFolder; lastStep: number } {
    return writable(folder, () => {
      clearUnfinished(folder)
      for (const name of Object.values(RUN_FILES))
        nodeDisk.remove(join(folder, `${name}${UNFINISHED}`))
      const lastStep = cutLines(join(folder, RUN_FILES.metrics), step)
      cutLines(join(folder, RUN_FILES.samples), step)
      for (const name of [RUN_FILES.observations, RUN_FILES.generations])
        if (existsSync(join(folder, name))) cutLines(join(folder, name), step)
      const own = new RunFolder(folder, 'a', options)
      own.#opened(() => {})
      return { folder: own, lastStep }
    })
  }

  /** Whether a folder holds observations, so that a run that continues in it makes them too. */
  static isObserved(folder: string): boolean {
    return existsSync(join(folder, RUN_FILES.observations))
  }

  /** One line in the format of verl's file logger: {"step": 1, "data": {…}}. */
  metrics(step: number, data: Metrics): void {
    this.#metrics.add(JSON.stringify({ step, data }))
  }

  /** The first few samples of a step. */
  samples(step: number, samples: readonly RolloutSample[]): void {
    for (const sample of samples.slice(0, SAMPLES))
      this.#samples.add(JSON.stringify({ step, ...sample }))
  }

  /** One line for each answer, as in verl's validation_data_dir but in one file: {"step": 1,
   * "input": …, "output": …, "gts": …, "score": …}. */
  generations(step: number, generations: readonly Generation[]): void {
    for (const generation of generations)
      this.#add(RUN_FILES.generations, JSON.stringify({ step, ...generation }))
  }

  /** One line for each observed step (page/runs/observation_file.ts). */
  observation(step: number, observation: Observation): void {
    this.#add(RUN_FILES.observations, observationLine(step, observation))
  }

  /** What is known of the run by now. */
  facts(facts: RunFacts): void {
    const write = () => this.#writeJson(RUN_FILES.facts, facts)
    // What lies in reserve for the end makes room for this too.
    const error = attempt(write) === undefined ? undefined : this.#withReserve(write)
    this.#note(RUN_FILES.facts, error)
  }

  /** The last record: the facts first, then what `complete` writes. */
  finish(facts: RunFacts, series: ReadonlyMap<string, Series>): void {
    this.facts(facts)
    this.complete(series)
  }

  /** Writes the lines that wait, and the metrics of the whole run once more, as a table. */
  complete(series: ReadonlyMap<string, Series>): void {
    this.#release()
    for (const log of this.#logs) log.write()
    this.#note(
      RUN_FILES.table,
      attempt(() => this.#table(series)),
    )
  }

  /** What the folder lacks, in sentences. */
  get missing(): string[] {
    const lines = this.#logs
      .filter(({ missing }) => missing > 0)
      .map(({ name, missing }) => `${name} lacks its last ${missing} lines`)
    const unopened = [...this.#unopened].map(([name, count]) => `${name} lacks ${count} lines`)
    return [...lines, ...unopened, ...this.#failed.values()]
  }

  /** Puts what was written so far on the disk, so that no checkpoint is ahead of it. Throws. */
  sync(): void {
    for (const log of this.#logs) log.flush()
  }

  close(): void {
    this.#release()
    for (const log of this.#logs) log.close()
  }

  get #logs(): LineLog[] {
    return [this.#metrics, this.#samples, ...this.#begun.values()]
  }

  #log(name: string, flags: 'w' | 'a'): LineLog {
    return new LineLog(this.#disk, join(this.folder, name), flags, (said) => this.#tell(said))
  }

  /** Adds a line to a file that begins with its first one. */
  #add(name: string, line: string): void {
    const error = attempt(() => {
      if (!this.#begun.has(name)) this.#begun.set(name, this.#log(name, 'a'))
    })
    this.#note(name, error)
    const log = this.#begun.get(name)
    if (log) log.add(line)
    else this.#unopened.set(name, (this.#unopened.get(name) ?? 0) + 1)
  }

  /** From the file where the columns have no longer every step. */
  #table(series: ReadonlyMap<string, Series>): void {
    const table = join(this.folder, RUN_FILES.table)
    if (thinnedOf(series.values()))
      tableOfLines(join(this.folder, RUN_FILES.metrics), table, this.#disk)
    else replaceFile(table, metricsCsv(series), this.#disk)
  }

  /** Remembers, and says once, that a file could not be written; forgets it when it could. */
  #note(name: string, error: unknown): void {
    const before = this.#failed.get(name)
    if (error === undefined) this.#failed.delete(name)
    else {
      this.#failed.set(name, `${name} was not written (${reason(error)})`)
      if (before === undefined) this.#tell(`${name} was not written: ${reason(error)}`)
    }
  }

  #writeJson(name: string, value: unknown): void {
    replaceFile(join(this.folder, name), `${JSON.stringify(value, undefined, 2)}\n`, this.#disk)
  }

  /** Finishes opening, or gives back what was opened. */
  #opened(work: () => void): void {
    try {
      this.#reserve()
      work()
    } catch (error) {
      this.close()
      throw error
    }
  }

  #reserve(): void {
    const bytes = Buffer.from(RESERVE_LINE.repeat(Math.ceil(RESERVE_BYTES / RESERVE_LINE.length)))
    const file = this.#disk.open(join(this.folder, RESERVE), 'w')
    try {
      writeWhole(this.#disk, file, bytes)
    } finally {
      this.#disk.close(file)
    }
  }

  /** Does something with the room that lies in reserve, and keeps as much of it as is left. The
   * error, where it fails again. */
  #withReserve(work: () => void): unknown {
    this.#release()
    const error = attempt(work)
    attempt(() => this.#reserve())
    return error
  }

  #release(): void {
    attempt(() => this.#disk.remove(join(this.folder, RESERVE)))
  }
}

/** What the system refuses before a run begins is a sentence about the folder. */
function writable<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LabFailure) throw error
    throw new LabFailure(
      `${folder}: cannot be written (${reason(error)}). Make room on the disk, or name another folder`,
    )
  }
}
