// A phase of preferences as a folder that TRL trains: model, rows, script and README.

import type { Experiment } from '../document/experiment/schema/schema.ts'
import { jsonFile, textFile } from '../formats/out_file.ts'
import { markdownText } from '../formats/text_tables.ts'
import type { Task } from '../tasks/task/task.ts'
import { list } from './job_readme.ts'
import type { Job, JobOptions, JobSource } from './job_spec.ts'
import { modelFolders, modelWords } from './model_folders.ts'
import { preferenceRows, rowsFile } from './preference_rows.ts'
import type { Note } from './settings/carry.ts'
import { JobError } from './settings/job_error.ts'
import { phaseWords } from './settings/phase_choice.ts'
import {
  preferenceArguments,
  preferenceLosses,
  preferenceRefusals,
  TRL_TRAINERS,
  trainerOf,
} from './settings/preference_arguments.ts'
import { type ChosenPreference, requireTrl } from './settings/preference_phase.ts'
import { pythonValue } from './settings/shell.ts'
import template from './templates/train_trl_preference.py?raw'

/** What is checked before a job of preferences is made: throws JobError naming every setting that
 * TRL cannot run; returns what it leaves out. */
export function checkPreferenceJob(
  { experiment }: Pick<JobSource, 'experiment'>,
  { target, scale }: JobOptions,
  chosen: ChosenPreference,
): readonly Note[] {
  requireTrl(target, chosen.index)
  if (scale)
    throw new JobError(
      `--model: a job of ${phaseWords(chosen.phase, chosen.index)} trains the model of its folder; leave --model out`,
    )
  const refused = preferenceRefusals(experiment, chosen)
  if (refused.length > 0)
    throw new JobError(
      `TRL cannot run this phase. ${refused.map(({ path, value, why }) => `${path} is ${value}: ${why}`).join('; ')}`,
    )
  return preferenceLosses(experiment, chosen)
}

/** The job, or JobError. */
export function preferenceJob(
  source: JobSource,
  options: JobOptions,
  chosen: ChosenPreference,
  task: Task,
): Job {
  const { experiment, understory, place } = source
  const lost = checkPreferenceJob(source, options, chosen)
  const { train, val } = preferenceRows(source, chosen, task)
  const trainer = trainerOf(chosen)
  const { module, config } = TRL_TRAINERS[trainer]
  const has_val = val.length > 0
  const told = [...preferenceArguments(experiment, chosen, has_val)]
  const script = template
    .replace('    # ARGUMENTS', () =>
      told.map(([key, value]) => `    ${key}=${pythonValue(value)},`).join('\n'),
    )
    .replaceAll('TRL_MODULE', module)
    .replaceAll('TRL_CONFIG', config)
    .replaceAll('TRL_TRAINER', trainer)
  const hasBegun = place.phase === chosen.index && place.phase_step > 0
  const warnings = hasBegun
    ? [
        'The phase has begun: TRL takes the model of this folder as the reference, and the lab the policy that the phase began with.',
      ]
    : []
  const files = [
    ...modelFolders(source, task),
    rowsFile('data/train.parquet', train),
    ...(has_val ? [rowsFile('data/val.parquet', val)] : []),
    textFile('train_trl.py', script),
  ]
  const counts = { train: train.length, val: val.length }
  const readme = readmeOf(source, chosen, { trainer, lost, warnings, counts })
  const paths = [...files.map(({ path }) => path), 'README.md']
  const { seed } = experiment
  const mark = { format: 'understory-job-1', understory, target: 'trl', seed, experiment }
  return {
    files: [
      ...files,
      textFile('README.md', readme),
      jsonFile('understory.json', { ...mark, files: paths }),
    ],
    warnings,
  }
}

interface Said {
  readonly trainer: string
  readonly lost: readonly Note[]
  readonly warnings: readonly string[]
  readonly counts: { readonly train: number; readonly val: number }
}

function readmeOf(
  source: JobSource,
  { phase, index, steps }: ChosenPreference,
  { trainer, lost, warnings, counts }: Said,
): string {
  const { experiment, understory } = source
  return `# ${markdownText(nameOf(experiment))}

${phaseWords(phase, index).replace(/^p/, 'P')} of an experiment of Understory ${understory}, as a job for TRL's ${trainer}.
${warnings.length > 0 ? `\n${list(warnings)}\n` : ''}
## Start

Needs TRL 1.13 or later; a CPU will do.

    pip install "trl>=1.13" && python3 train_trl.py

The trained model and \`trl_log.json\` are written to \`trained/\`.

## What is in this folder

- \`model/\`: Hugging Face format. ${modelWords(source)} It is the reference too.
- \`data/\`: ${counts.train} rows to train on and ${counts.val} held-out ones, in TRL's columns. Prompts are texts as the model reads them.
- \`train_trl.py\`: ${steps} steps.
- \`understory.json\`: the experiment, its seed and the lab’s version; \`lab train understory.json\` and the page open it.

## What was not carried over

${list(lost.map(({ path, value, why }) => `${path} (${value}): ${why}.`))}

Rows come in another order than in the lab, but for single answers, which both take in the order of the file. The optimizer begins without moments and the learning
rate with its warm-up.
`
}

const nameOf = ({ name }: Experiment): string => name ?? 'Preferences'
