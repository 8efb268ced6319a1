// Writes README.md of a job: how to start it, and line by line what of the experiment is not in it.
import { markdownTable, markdownText, type Say } from '../formats/text_tables.ts'
import type { Scale } from './scale/scale.ts'
import type { Note } from './settings/carry.ts'
import type { ChosenPhase } from './settings/phase_choice.ts'
import { TARGET_NAMES, type Target, type VerlVersion } from './settings/setting.ts'
import { VERL_PINS } from './verl_scripts.ts'

/** What one system runs of the job. */
export interface Starter {
  readonly target: Target
  readonly script: string
  readonly steps: number
  readonly lost: readonly Note[]
  /** On how many GPUs, in words. */
  readonly where: string
  readonly chosen: ChosenPhase
}

export interface ReadmeFacts {
  readonly name: string
  readonly version: string
  /** What is in model/, in sentences; undefined where the job trains another model. */
  readonly model: string | undefined
  /** What is in teacher/, in a sentence; undefined where no other model teaches. */
  readonly teacher: string | undefined
  /** That other model, and where it is trained. */
  readonly scale: Scale | undefined
  /** What is to be known before a start, a sentence each. */
  readonly warnings: readonly string[]
  readonly starters: readonly Starter[]
  /** Systems that cannot run the experiment, and why. */
  readonly missing: readonly { readonly target: Target; readonly why: string }[]
  /** Every phase of the experiment, and what becomes of it. */
  readonly phases: readonly string[]
  readonly rows: string
  readonly verl: VerlVersion
}

const VERL = {
  '0.9': 'verl 0.9.0 or later (Python 3.10 to 3.12; it brings vLLM)',
  '0.7': 'verl 0.7 (its keys of the reward function are the old ones)',
} as const

const FSDP2 =
  'It sets `actor.strategy=fsdp2`: with FSDP 1 on one GPU the fork never trains the last layer again after its first inner update, without a word, and on several AdamW decays the final norm in the inner phase and counts its steps. In the lab that is `decay_final_norm` of the phase.'
const FSDP =
  'It sets `actor.strategy=fsdp` on several GPUs, because the inner phase has `decay_final_norm`: there FSDP 1 lets AdamW decay the final norm and count its steps. Do not start it on one GPU: the fork would never train the last layer again after its first inner update, without a word.'

const blocks = (parts: readonly (string | false)[]): string =>
  parts.filter((part) => part !== false && part !== '').join('\n\n')

function verlTable({ verl, scale }: ReadmeFacts, say: Say): string {
  const { image, release } = VERL_PINS[verl]
  const docker = `docker run --rm --gpus all --shm-size 8g -v "$PWD":/job -w /job ${image} bash -c 'pip install verl==${release} --no-deps && bash run_verl.sh'`
  const rows = [
    ['a GPU with verl installed', 'bash run_verl.sh'],
    ['docker', docker],
    ['a Ray cluster', 'RAY_ADDRESS=http://127.0.0.1:8265 bash ray_job.sh'],
    ...(scale && scale.nodes > 1
      ? []
      : [
          ['a cloud, with SkyPilot', 'sky launch -c understory sky.yaml'],
          ['SLURM', 'sbatch slurm.sh'],
        ]),
  ]
  return markdownTable(
    [say('where it runs'), say('command, in this folder')],
    rows.map(([where, command]) => [say(where), `\`${command}\``]),
  )
}

const MERGE =
  'python3 -m verl.model_merger merge --backend fsdp --local_dir checkpoints/global_step_N/actor --target_dir out'

/** How each system's script is started. */
const HOW: Readonly<
  Record<Target, (facts: ReadmeFacts, starter: Starter, say: Say) => readonly (string | false)[]>
> = {
  verl: (facts, { where }, say) => [
    '### verl',
    say(`It needs ${VERL[facts.verl]}, and ${where}.`),
    verlTable(facts, say),
    say('A first look without much waiting:'),
    '    bash run_verl.sh trainer.total_training_steps=2 trainer.val_before_train=False',
    !facts.scale && say('More GPUs:'),
    !facts.scale && '    bash run_verl.sh trainer.n_gpus_per_node=8',
    facts.scale
      ? say(
          'Checkpoints are written to `checkpoints/`. This makes a folder in Hugging Face format of one:',
        )
      : say(
          'Checkpoints are written to `checkpoints/`. This makes a folder like `model/` of one, which the lab reads again:',
        ),
    `    ${MERGE}`,
  ],
  bupo: (_, { where, chosen }, say) => [
    `### ${say('BuPO’s fork of verl')}`,
    say(
      `It needs a checkout of github.com/Trae1ounG/BuPO with its packages (vLLM 0.8, transformers 4.56, flash-attention), and ${where}:`,
    ),
    '    cd BuPO && bash /path/to/this/folder/run_bupo.sh',
    say(
      'The lab counts the blocks that are applied, the fork counts from 0: layer k here is `internal_layer` k − 1 there. The script puts the fork’s `verl/models/custom_model` on PYTHONPATH, because the fork names that folder by a placeholder, and says so where it is not started in a checkout.',
    ),
    say(chosen.inner?.decaysFinalNorm ? FSDP : FSDP2),
    say('With a KL it adds the three keys that the fork’s reference lacks.'),
    say(
      'What the fork does otherwise: its entropy bonus is of the whole model’s policy in the inner phase too, and reaches every layer; `actor/entropy` is that policy’s in both phases. A padding token inside a response is left out of the text that it scores.',
    ),
  ],
  trl: (_facts, _starter, say) => [
    '### TRL',
    say('It needs TRL 1.13 or later; a CPU will do.'),
    '    pip install trl && python3 train_trl.py',
    say(
      'The trained model and `trl_log.json` are written to `trained/`. In Jupyter or on Colab open `train_trl.ipynb`: it installs TRL, runs the same script and draws its curves.',
    ),
  ],
}

/** A value in a sentence. */
export const shown = (value: unknown): string =>
  value === '' ? 'nothing' : String(value ?? 'none')

/** Lines of Markdown. */
export const list = (lines: readonly string[]): string =>
  lines.map((line) => `- ${line}`).join('\n')

/** What of an experiment is not carried over, a line each. */
export const lostList = (lost: readonly Note[], say: Say): string =>
  lost.length === 0
    ? `- ${say('Nothing is missing.')}`
    : list(lost.map(({ path, value, why }) => say(`${path} (${shown(value)}): ${why}.`)))

/** What is in the folder. */
function contents(facts: ReadmeFacts, say: Say): string {
  const { model, teacher, scale, starters, rows } = facts
  const first = scale
    ? `No model: the scripts name \`${markdownText(scale.model)}\`, which is loaded from Hugging Face or a folder of that name.`
    : `\`model/\`: Hugging Face format. ${model}`
  const all = [
    first.trimEnd(),
    ...(teacher ? [teacher] : []),
    rows,
    '`reward.py`: what responses are worth, in Python: the task’s own score, or the parts that the experiment composes.',
    OF_SPEC,
    ...starters.map(
      ({ script, target, steps }) =>
        `\`${script}\`: trains ${steps} steps with ${TARGET_NAMES[target]}.`,
    ),
  ]
  return list(all.map(say))
}

export const OF_SPEC =
  '`understory.json`: the experiment, its seed and the lab’s version; `lab train understory.json` and the page open it.'

/** The whole file. */
export function jobReadme(facts: ReadmeFacts, say: Say): string {
  const { name, version, scale, warnings, starters, missing, phases } = facts
  const text = blocks([
    `# ${markdownText(say(name))}`,
    say(`An experiment of Understory ${version} as a job for other systems.`),
    !scale && say('`python3 check.py` says without a GPU what is in order.'),
    warnings.length > 0 && list(warnings.map(say)),
    `## ${say('How to start it')}`,
    ...starters.flatMap((starter) => HOW[starter.target](facts, starter, say)),
    `## ${say('What is in this folder')}`,
    contents(facts, say),
    `## ${say('What was not carried over')}`,
    say('Phases of the experiment:'),
    list(phases.map(say)),
    say('Settings without a counterpart:'),
    ...starters.flatMap(({ target, lost }) => [
      `**${say(TARGET_NAMES[target])}**`,
      lostList(lost, say),
    ]),
    say(
      'Everywhere: samples are drawn with other random numbers, so curves agree in distribution and not bit for bit; the optimizer begins without moments and the learning rate with its warm-up; a padding token inside a response is left out of the text that is scored, while the lab shows it and scores 0.',
    ),
    missing.length > 0 &&
      list(missing.map(({ target, why }) => say(`No script for ${TARGET_NAMES[target]}: ${why}`))),
  ])
  return `${text}\n`
}
