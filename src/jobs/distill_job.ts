// Writes a phase of distillation as a folder that TRL's GKDTrainer trains: student, teacher, rows,
// script and README.
import type { Task } from '../tasks/task/task.ts'
import { distillRows, distillRowsFile } from './distill_rows.ts'
import type { Job, JobOptions, JobSource } from './job_spec.ts'
import {
  modelFolders,
  modelWarnings,
  modelWords,
  teacherFolder,
  teacherWords,
} from './model_folders.ts'
import { byHandNotes, type Note } from './settings/carry.ts'
import { distillArguments, distillLosses, distillRefusals } from './settings/distill_arguments.ts'
import type { ChosenDistillation } from './settings/trl_phase.ts'
import template from './templates/train_trl_distill.py?raw'
import { requireJob, trainScript, trlJob } from './trl_job.ts'

/** What is checked before a job of distillation is made: throws JobError naming every setting that
 * TRL cannot run, or where the teacher's weights are not there; returns what it leaves out. */
export function checkDistillJob(
  source: JobSource,
  options: JobOptions,
  chosen: ChosenDistillation,
  task: Task,
): readonly Note[] {
  const { experiment } = source
  requireJob(options, chosen, distillRefusals(experiment, chosen))
  teacherFolder(source, task)
  return [...distillLosses(experiment, chosen), ...byHandNotes(source)]
}

/** The job, or JobError. */
export function distillJob(
  source: JobSource,
  options: JobOptions,
  chosen: ChosenDistillation,
  task: Task,
): Job {
  const { experiment } = source
  const lost = checkDistillJob(source, options, chosen, task)
  const rows = distillRows(source, chosen.steps * chosen.phase.batch_size)
  const files = [
    ...modelFolders(source, task),
    ...teacherFolder(source, task),
    distillRowsFile(source, task, rows),
    trainScript(template, distillArguments(experiment, chosen)),
  ]
  const said = {
    title: 'Distillation',
    trainer: 'GKDTrainer',
    lost,
    warnings: modelWarnings(source, ['trl']),
    folders: [
      `\`model/\`: the student, in Hugging Face format. ${modelWords(source)}`,
      teacherWords(experiment),
      `\`data/train.jsonl\`: ${rows} prompts with their demonstrations, as the ids that the lab trains on.`,
    ],
    otherwise:
      'GKDTrainer is in trl.experimental, which may change with every release. The optimizer begins without moments and the learning rate with its warm-up.',
  }
  return trlJob(source, chosen, files, said, options.say)
}
