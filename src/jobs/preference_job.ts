// Writes a phase of preferences as a folder that TRL trains: model, rows, script and README.
import type { Task } from '../tasks/task/task.ts'
import type { Job, JobOptions, JobSource } from './job_spec.ts'
import { modelFolders, modelWords } from './model_folders.ts'
import { preferenceRows, rowsFile } from './preference_rows.ts'
import { byHandNotes, type Note } from './settings/carry.ts'
import {
  preferenceArguments,
  preferenceLosses,
  preferenceRefusals,
  TRL_TRAINERS,
  trainerOf,
} from './settings/preference_arguments.ts'
import type { ChosenPreference } from './settings/trl_phase.ts'
import template from './templates/train_trl_preference.py?raw'
import { requireJob, trainScript, trlJob } from './trl_job.ts'

/** What is checked before a job of preferences is made: throws JobError naming every setting that
 * TRL cannot run, or where the pairs are not made yet; returns what it leaves out. */
export function checkPreferenceJob(
  source: JobSource,
  options: JobOptions,
  chosen: ChosenPreference,
  task: Task,
): readonly Note[] {
  const { experiment } = source
  requireJob(options, chosen, preferenceRefusals(experiment, chosen))
  preferenceRows(source, chosen, task)
  return [...preferenceLosses(experiment, chosen), ...byHandNotes(source)]
}

/** The job, or JobError. */
export function preferenceJob(
  source: JobSource,
  options: JobOptions,
  chosen: ChosenPreference,
  task: Task,
): Job {
  const { experiment, place } = source
  const lost = checkPreferenceJob(source, options, chosen, task)
  const { train, val } = preferenceRows(source, chosen, task)
  const trainer = trainerOf(chosen)
  const { module, config } = TRL_TRAINERS[trainer]
  const hasVal = val.length > 0
  const script = template
    .replaceAll('TRL_MODULE', module)
    .replaceAll('TRL_CONFIG', config)
    .replaceAll('TRL_TRAINER', trainer)
  const hasBegun = place.phase === chosen.index && place.phase_step > 0
  const files = [
    ...modelFolders(source, task),
    rowsFile('data/train.parquet', train),
    ...(hasVal ? [rowsFile('data/val.parquet', val)] : []),
    trainScript(script, preferenceArguments(experiment, chosen, hasVal)),
  ]
  const said = {
    title: 'Preferences',
    trainer,
    lost,
    warnings: hasBegun
      ? [
          'The phase has begun: TRL takes the model of this folder as the reference, and the lab the policy that the phase began with.',
        ]
      : [],
    folders: [
      `\`model/\`: Hugging Face format. ${modelWords(source)} It is the reference too.`,
      `\`data/\`: ${train.length} rows to train on and ${val.length} held-out ones, in TRL's columns. Prompts are texts as the model reads them.`,
    ],
    otherwise:
      'Rows come in another order than in the lab, but for single answers, which both take in the order of the file. The optimizer begins without moments and the learning rate with its warm-up.',
  }
  return trlJob(source, chosen, files, said, options.say)
}
