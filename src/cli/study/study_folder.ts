// Keeps the folder of a study: the study as it began, a line per finished run, the runs themselves,
// table, report and pictures.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changesOf } from '../../document/study/changes.ts'
import { fingerprintOf } from '../../document/study/fingerprint.ts'
import type { PlannedRun } from '../../document/study/queue.ts'
import { type RunResult, readResult } from '../../document/study/results.ts'
import { parseStudy, type Study } from '../../document/study/study.ts'
import { LabFailure } from '../base/command.ts'
import { replaceFile } from '../base/disk.ts'
import { readJson } from '../input/input_file.ts'

const STUDY = 'study.json'
const RESULTS = 'results.jsonl'

export class StudyFolder {
  readonly folder: string
  /** What was changed in the study since it began, a sentence each. */
  readonly changes: readonly string[]

  private constructor(folder: string, changes: readonly string[]) {
    this.folder = folder
    this.changes = changes
  }

  /** Opens a new folder, or with `resume` one that holds this study. Throws LabFailure where it
   * holds something else. */
  static open(folder: string, study: Study, resume: boolean): StudyFolder {
    const file = join(folder, STUDY)
    const exists = existsSync(file)
    if (exists && !resume)
      throw new LabFailure(
        `${folder} holds a study already. Continue it with --resume, or name another folder`,
      )
    mkdirSync(join(folder, 'runs'), { recursive: true })
    const kept = exists ? (readJson(file) as { study: unknown; changes?: unknown }) : undefined
    const before = kept && parseStudy(kept.study)
    const known = Array.isArray(kept?.changes) ? kept.changes.map(String) : []
    const count = kept ? new StudyFolder(folder, []).results().length : 0
    const changes = [...known, ...(before?.ok ? changesOf(before.study, study, count) : [])]
    replaceFile(file, `${JSON.stringify({ study, changes }, undefined, 1)}\n`)
    return new StudyFolder(folder, changes)
  }

  /** The finished runs. A line that was cut off by a crash is left out, and its run is trained
   * again. */
  results(): RunResult[] {
    return StudyFolder.resultsIn(this.folder)
  }

  /** The same of a folder that is not opened; none where there is no such folder. */
  static resultsIn(folder: string): RunResult[] {
    const file = join(folder, RESULTS)
    if (!existsSync(file)) return []
    return readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return readResult(JSON.parse(line)) ?? []
        } catch {
          return []
        }
      })
  }

  keep(result: RunResult): void {
    // A new line first ends one that a crash cut off.
    const file = join(this.folder, RESULTS)
    const begins = existsSync(file) && !readFileSync(file, 'utf8').endsWith('\n') ? '\n' : ''
    appendFileSync(file, `${begins}${JSON.stringify(result)}\n`)
  }

  /** Where a run is trained: named for people, and by what tells it from the same arm before the
   * study was changed. */
  runFolder({ arm, seed, experiment }: PlannedRun): string {
    const slug = arm.name
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]+/g, '_')
      .slice(0, 40)
    return join(this.folder, 'runs', `${slug}-s${seed}-${fingerprintOf(experiment).slice(0, 6)}`)
  }

  write(name: string, text: string): string {
    const file = join(this.folder, name)
    replaceFile(file, text)
    return file
  }
}
