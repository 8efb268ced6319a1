// lab study: trains the runs of a study, side by side where there is room, and writes its table and
// its report.
import { analyse } from '../../document/study/analysis.ts'
import { type Arm, expandStudy } from '../../document/study/arms.ts'
import { type PlannedRun, secondsLeft } from '../../document/study/queue.ts'
import { studyFiles } from '../../document/study/report/files.ts'
import { planStudy } from '../../document/study/search.ts'
import type { Study } from '../../document/study/study.ts'
import { nearBaseSentence } from '../../record/run/base_words.ts'
import { type Command, LabFailure } from '../base/command.ts'
import { print, tell } from '../base/terminal.ts'
import { withoutStart } from '../input/model_start.ts'
import { trustPrograms } from '../sandbox/programs.ts'
import { armProblems } from './arm_checks.ts'
import { type Continued, continued } from './continued.ts'
import { StudyFolder } from './study_folder.ts'
import { readStudy, readStudyOptions, STUDY_LINE, type StudyOptions } from './study_options.ts'
import { trainRun } from './study_run.ts'

export const studyCommand: Command = {
  line: STUDY_LINE,
  run: async (args) => {
    const read = readStudyOptions(args)
    const { study, start } = await continued(read.study, read.file)
    const options = { ...read, study, start }
    const expanded = expandStudy(options.study)
    if (!expanded.ok)
      throw new LabFailure(
        `${options.file}: nothing was trained:\n  ${expanded.problems.join('\n  ')}`,
      )
    for (const note of expanded.notes) tell(note)
    const { arms } = expanded
    trustPrograms(options.isTrusted)
    // The model that a study continues is there already.
    const begun =
      start === undefined
        ? arms
        : arms.map((arm) => ({ ...arm, experiment: withoutStart(arm.experiment) }))
    const problems = options.isReport ? [] : await armProblems(begun)
    if (problems.length > 0)
      throw new LabFailure(`${options.file}: nothing was trained:\n  ${problems.join('\n  ')}`)
    if (options.isDry) return describe(options, arms)
    return trainStudy(options, arms)
  },
}

/** The options, and what the study continues. */
type Options = StudyOptions & Continued

function describe({ study, out, jobs }: Options, arms: readonly Arm[]): number {
  print(`${study.name}: ${arms.length} arms × ${study.seeds.length} seeds`)
  for (const { name, experiment } of arms) {
    const steps = experiment.phases.map(({ kind, steps }) => `${kind} ${steps}`).join(', ')
    print(`  ${name} (${steps})`)
  }
  if (out !== '') {
    const known = StudyFolder.resultsIn(out)
    const missing = planStudy(study, arms, known).runs.length
    const seconds = secondsLeft(missing, known, jobs)
    const time = seconds === undefined ? '' : `, about ${Math.ceil(seconds)} s`
    print(`${missing} runs are missing${time}`)
  }
  return 0
}

async function trainStudy(options: Options, arms: readonly Arm[]): Promise<number> {
  const { study, start, out, resume, jobs, file, isReport, isTrusted } = options
  const folder = StudyFolder.open(out, study, resume)
  for (const change of folder.changes) tell(change)
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal)
  const problems: string[] = []
  let plan = planStudy(study, arms, folder.results())
  while (!isReport && plan.runs.length > 0 && !stop.signal.aborted && problems.length === 0) {
    tell(`${plan.stage}: ${plan.runs.length} runs to train, ${jobs} at a time`)
    await trainAll(plan.runs, { study, start, folder, jobs, stop, problems, isTrusted })
    plan = planStudy(study, arms, folder.results())
  }
  const { compared } = plan
  const analysis = analyse(compared.study, compared.arms, folder.results())
  const files = studyFiles(compared.study, analysis, folder.changes, study, {
    begins: nearBaseSentence(study, compared.arms),
  })
  for (const [name, text] of files) folder.write(name, text)
  print(`Wrote ${folder.folder}`)
  for (const problem of problems) tell(problem)
  if (JSON.stringify(studyOf(options)) !== JSON.stringify(study))
    tell(
      `${file} was edited while the study ran. The report is of the study as it began; run it again with --resume for the edited one`,
    )
  if (problems.length > 0) return 1
  return stop.signal.aborted ? 130 : 0
}

const studyOf = ({ file, study }: Options): Study | undefined => {
  try {
    const { seeds, base } = study
    return { ...readStudy(file), seeds, ...(study.continues !== undefined && { base }) }
  } catch {
    return undefined
  }
}

/** What is the same for all runs of a command. `problems` takes what did not run. */
interface Training {
  readonly study: Study
  readonly start: string | undefined
  readonly folder: StudyFolder
  readonly jobs: number
  readonly stop: AbortController
  readonly problems: string[]
  readonly isTrusted: boolean
}

/** `jobs` runs at a time, in their order. */
async function trainAll(
  runs: readonly PlannedRun[],
  { study, start, folder, jobs, stop, problems, isTrusted }: Training,
): Promise<void> {
  const waiting = [...runs]
  const done = folder.results()
  const known = done.length
  const work = async () => {
    for (let run = waiting.shift(); run && !stop.signal.aborted; run = waiting.shift()) {
      const { signal } = stop
      const place = { folder: folder.runFolder(run), start, signal, isTrusted }
      const outcome = await trainRun(run, study, place)
      const name = `${run.arm.name}, seed ${run.seed}`
      if ('problem' in outcome) problems.push(`${name} did not run: ${outcome.problem}`)
      if (!('result' in outcome)) continue
      folder.keep(outcome.result)
      done.push(outcome.result)
      const left = secondsLeft(waiting.length, done, jobs)
      const time = left === undefined ? '' : `, about ${Math.ceil(left / 60)} min left`
      tell(`${name}: ${outcome.result.status} (${done.length - known}/${runs.length}${time})`)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
}
