// Writes a phase that TRL has a trainer of its own for as a folder: what jobs of preferences and of
// distillation have in common.
import type { Experiment } from '../document/experiment/schema/schema.ts'
import { jsonFile, type OutFile, textFile } from '../formats/out_file.ts'
import { markdownText, type Say } from '../formats/text_tables.ts'
import { list, lostList, OF_SPEC } from './job_readme.ts'
import type { Job, JobOptions, JobSource } from './job_spec.ts'
import { trlNotebook } from './notebooks/trl_notebook.ts'
import type { Note } from './settings/carry.ts'
import { JobError } from './settings/job_error.ts'
import { phaseWords } from './settings/phase_choice.ts'
import { pythonValue } from './settings/shell.ts'
import { type ChosenDistillation, type ChosenPreference, requireTrl } from './settings/trl_phase.ts'

type Chosen = ChosenPreference | ChosenDistillation

/** Throws JobError for another system, another model, or settings that TRL cannot run. */
export function requireJob(
  { target, scale }: JobOptions,
  chosen: Chosen,
  refused: readonly Note[],
): void {
  requireTrl(target, chosen)
  if (scale)
    throw new JobError(
      `a job of ${phaseWords(chosen.phase, chosen.index)} trains the model of its folder, and no other one`,
    )
  if (refused.length > 0)
    throw new JobError(
      `TRL cannot run this phase. ${refused.map(({ path, value, why }) => `${path} is ${value}: ${why}`).join('; ')}`,
    )
}

/** The script of a template with what its trainer is told. */
export const trainScript = (template: string, told: ReadonlyMap<string, unknown>): OutFile =>
  textFile(
    'train_trl.py',
    template.replace('    # ARGUMENTS', () =>
      [...told].map(([key, value]) => `    ${key}=${pythonValue(value)},`).join('\n'),
    ),
  )

/** What the README says. */
interface Said {
  readonly title: string
  readonly trainer: string
  readonly lost: readonly Note[]
  readonly warnings: readonly string[]
  /** Lines about model/, data/ and what else there is. */
  readonly folders: readonly string[]
  /** What is otherwise in every such job. */
  readonly otherwise: string
}

/** The job: `files`, a README and the way back. */
export function trlJob(
  { experiment, understory }: JobSource,
  chosen: Chosen,
  files: readonly OutFile[],
  said: Said,
  say: Say = String,
): Job {
  const notebook = trlNotebook(
    { title: experiment.name ?? said.title, trainer: said.trainer, steps: chosen.steps },
    say,
  )
  const all = [...files, notebook]
  const paths = [...all.map(({ path }) => path), 'README.md']
  const { seed } = experiment
  const mark = { format: 'understory-job-1', understory, target: 'trl', seed, experiment }
  const readme = readmeOf(experiment, understory, chosen, said, say)
  return {
    files: [
      ...all,
      textFile('README.md', readme),
      jsonFile('understory.json', { ...mark, files: paths }),
    ],
    warnings: said.warnings,
  }
}

function readmeOf(
  { name }: Experiment,
  understory: string,
  { phase, index, steps }: Chosen,
  { title, trainer, lost, warnings, folders, otherwise }: Said,
  say: Say,
): string {
  const words = phaseWords(phase, index).replace(/^p/, 'P')
  const parts = [
    `# ${markdownText(say(name ?? title))}`,
    say(`${words} of an experiment of Understory ${understory}, as a job for TRL's ${trainer}.`),
    ...(warnings.length > 0 ? [list(warnings.map(say))] : []),
    `## ${say('How to start it')}`,
    say('It needs TRL 1.13 or later; a CPU will do.'),
    '    pip install "trl>=1.13" && python3 train_trl.py',
    say('The trained model and `trl_log.json` are written to `trained/`.'),
    `## ${say('What is in this folder')}`,
    list([
      ...folders.map(say),
      say(
        `\`train_trl.py\`: ${steps} steps; \`train_trl.ipynb\` runs it in Jupyter or Colab, and draws its curves.`,
      ),
      say(OF_SPEC),
    ]),
    `## ${say('What was not carried over')}`,
    lostList(lost, say),
    say(otherwise),
  ]
  return `${parts.join('\n\n')}\n`
}
