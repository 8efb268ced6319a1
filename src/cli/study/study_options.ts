// Declares the command line of lab study.
import { parseStudy, type Study } from '../../document/study/study.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { commandLine, flag, text, usually } from '../base/declare.ts'
import { wholeNumber } from '../input/changed_fields.ts'
import { readJson } from '../input/input_file.ts'
import { readArguments } from '../options/read.ts'

export interface StudyOptions {
  readonly file: string
  readonly study: Study
  readonly out: string
  /** Whether `out` may hold this study's runs already. */
  readonly resume: boolean
  /** Runs that are trained side by side, each in a process of its own. */
  readonly jobs: number
  /** Says what would be trained, and trains nothing. */
  readonly isDry: boolean
  /** Writes the report of the runs that are known, and trains nothing. */
  readonly isReport: boolean
  /** Runs programs in Python where this system cannot confine them. */
  readonly isTrusted: boolean
}

const MOST_JOBS = 64

export const STUDY_LINE = commandLine({
  name: 'study',
  takes: '<study.json>',
  summary: 'trains all arms of a study with all seeds; writes table, report and pictures',
  groups: {
    Options: {
      out: text('DIR', 'runs, results.jsonl, table.csv, report.md and pictures'),
      resume: flag('continues a folder: finished runs are kept, missing ones are trained'),
      jobs: usually('1', 'N', 'trains N runs side by side, each in a process of its own'),
      seeds: text('N', 'the first N seeds, or some more behind them'),
      'dry-run': flag('says what would be trained and what is wrong, and trains nothing'),
      report: flag('writes the report of the runs that are known, and trains nothing'),
      'trust-programs': flag('runs Python where this system cannot confine it'),
    },
  },
  examples: [
    'study bench/studies/bupo_or_grpo.json --dry-run',
    'study study.json --out runs/study --jobs 2',
  ],
})

/** Throws UsageError for what cannot be meant, LabFailure for a study that is none. */
export function readStudyOptions(args: readonly string[]): StudyOptions {
  const { values, positionals } = readArguments(STUDY_LINE, args)
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0)
    throw new UsageError(`study: expected one study file, got ${positionals.length}`)
  if (values.out === undefined && !values['dry-run'])
    throw new UsageError('--out: add --out DIR, the folder for runs, table and report')
  const jobs = wholeNumber('--jobs', values.jobs) ?? 1
  if (jobs < 1 || jobs > MOST_JOBS)
    throw new UsageError(`--jobs: expected 1 to ${MOST_JOBS}, got ${jobs}`)
  const seeds = values.seeds === undefined ? undefined : wholeNumber('--seeds', values.seeds)
  return {
    file,
    study: withSeeds(readStudy(file), seeds),
    out: values.out ?? '',
    resume: values.resume || values.report,
    jobs,
    isDry: values['dry-run'],
    isReport: values.report,
    isTrusted: values['trust-programs'],
  }
}

/** The study with its first `count` seeds, or with further ones behind its own. */
function withSeeds(study: Study, count: number | undefined): Study {
  if (count === undefined) return study
  if (count < 1 || count > 64) throw new UsageError(`--seeds: expected 1 to 64, got ${count}`)
  const next = Math.max(...study.seeds) + 1
  const more = Array.from({ length: Math.max(0, count - study.seeds.length) }, (_, i) => next + i)
  return { ...study, seeds: [...study.seeds, ...more].slice(0, count) }
}

/** The study of a file. Throws LabFailure naming everything that is wrong with it. */
export function readStudy(file: string): Study {
  const parsed = parseStudy(readJson(file))
  if (parsed.ok) return parsed.study
  const lines = parsed.issues.map(({ path, message }) => `${path || 'the study'}: ${message}`)
  throw new LabFailure(`${file}: this is no study:\n  ${lines.join('\n  ')}`)
}
