// Reads the folder and the findings of a run that continues.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { followExperiment } from '../../document/experiment/experiment.ts'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { thinnedOf, thinnedWords } from '../../host/columns/thinning.ts'
import { metricRows } from '../../record/files/metrics_file.ts'
import { tell } from '../base/terminal.ts'
import { readExperiment } from '../input/experiment_source.ts'
import { readJson } from '../input/input_file.ts'
import { folderFiles } from '../output/checkpoint_files.ts'
import { lastStep } from '../output/line_file.ts'
import { RUN_FILES } from '../output/out_folder.ts'
import { historyFacts, type RunFacts } from '../output/run_facts.ts'
import { type FolderOptions, RunFolder } from '../output/run_folder.ts'
import { phaseOf, type Resumed } from './resume.ts'
import { RunWatch } from './run_watch.ts'

/** The folder that a run continues in, cut back to the checkpoint, or a new one that begins with
 * its metrics. */
export async function openFolder(
  { checkpoint, out, isSameRun }: Resumed,
  options: FolderOptions & { readonly replaced?: readonly string[] } = {},
): Promise<RunFolder> {
  const { record, run, history } = checkpoint
  const { step } = run.trainer
  const { folder, lastStep } = isSameRun
    ? RunFolder.reopen(out, step, options)
    : { folder: RunFolder.create(out, run.document, options), lastStep: -1 }
  const missing = metricRows(history.series).filter(([own]) => own > lastStep)
  const lost = thinnedWords(thinnedOf(history.series.values()))
  if (isSameRun && missing.length > 0)
    tell(`metrics.jsonl ends with step ${lastStep}: the rest is taken from the checkpoint`)
  if (missing.length > 0 && lost !== '') tell(`metrics.jsonl: ${lost}`)
  for (const [own, metrics] of missing) folder.metrics(own, metrics)
  if (!isSameRun) return folder
  // They are of steps that are taken again, or cannot be read.
  const files = folderFiles(out, record)
  const later = (await files.list()).filter((entry) => entry.step > step)
  await files.remove(
    record,
    later.map((entry) => entry.step),
  )
  return folder
}

/** What was found in the steps so far, by looking at them once more. */
export function watchUntil({ checkpoint, out, facts }: Resumed): RunWatch {
  const { run, history } = checkpoint
  const whole = join(out, 'experiment.json')
  const hasLeftOut = facts.warm_start !== undefined && existsSync(whole)
  const experiment = hasLeftOut ? readExperiment(whole) : run.document
  const watch = new RunWatch(experiment, experiment.phases.length - run.document.phases.length)
  const { experiments } = followExperiment(run.document)
  const series = new Map<string, Series>()
  for (const [step, metrics] of metricRows(history.series)) {
    appendMetrics(series, step, metrics)
    const done = history.steered.filter(
      ({ entry, refused }) => refused === undefined && entry.step < step,
    ).length
    const followed = experiments[done] ?? run.experiment
    watch.step(step, phaseOf(history, step), series, followed)
  }
  return watch
}

/** Brings the folder of a run that is over to its end, where it was cut short while it was written:
 * lines that metrics.jsonl lacks, the table, and what run.json says. What is whole stays as it
 * is. */
export async function completeFolder(found: Resumed): Promise<void> {
  const { checkpoint, out } = found
  const { run, history } = checkpoint
  const { step } = run.trainer
  const facts = readFacts(join(out, RUN_FILES.facts))
  const hasLines = lastStep(join(out, RUN_FILES.metrics)) === step
  if (facts?.status === 'finished' && hasLines && existsSync(join(out, RUN_FILES.table))) return
  const folder = await openFolder(found, { tell })
  const known = {
    status: 'finished',
    ...historyFacts(history, run.experiment),
    findings: watchUntil(found).found,
    steps: step,
  } as const
  if (facts) folder.finish({ ...(facts as unknown as RunFacts), ...known }, history.series)
  else folder.complete(history.series)
  folder.close()
  for (const said of folder.missing) tell(said)
}

function readFacts(file: string): Record<string, unknown> | undefined {
  try {
    return readJson(file) as Record<string, unknown>
  } catch {
    return undefined
  }
}
