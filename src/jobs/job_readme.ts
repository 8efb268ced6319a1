// Writes README.md of a job: how to start it, and line by line what of the experiment is not in it.
import { markdownText } from '../formats/text_tables.ts'
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
  'It sets `actor.strategy=fsdp2`: with FSDP 1 on one GPU the fork never trains the last layer again after its first inner update, without a word,\nand on several AdamW decays the final norm in the inner phase and counts its steps. In the lab that is `decay_final_norm` of the phase.'
const FSDP =
  'It sets `actor.strategy=fsdp` on several GPUs, because the inner phase has `decay_final_norm`: there FSDP 1 lets AdamW decay the final norm and\ncount its steps. Do not start it on one GPU: the fork would never train the last layer again after its first inner update, without a word.'

/** How each system's script is started. */
const HOW: Readonly<Record<Target, (facts: ReadmeFacts, starter: Starter) => string>> = {
  verl: ({ verl, scale }, { where }) => `### verl

Needs ${VERL[verl]}, and ${where}.

| where | command, in this folder |
|---|---|
| a GPU with verl installed | \`bash run_verl.sh\` |
| docker | \`docker run --rm --gpus all --shm-size 8g -v "$PWD":/job -w /job ${VERL_PINS[verl].image} bash -c 'pip install verl==${VERL_PINS[verl].release} --no-deps && bash run_verl.sh'\` |
| a Ray cluster | \`RAY_ADDRESS=http://127.0.0.1:8265 bash ray_job.sh\` |
${
  scale && scale.nodes > 1
    ? ''
    : `| a cloud, with SkyPilot | \`sky launch -c understory sky.yaml\` |
| SLURM | \`sbatch slurm.sh\` |
`
}
A first look without much waiting: \`bash run_verl.sh trainer.total_training_steps=2 trainer.val_before_train=False\`.${
    scale
      ? ''
      : ` More GPUs:
\`bash run_verl.sh trainer.n_gpus_per_node=8\`.`
  } Checkpoints are written to \`checkpoints/\`;
\`python3 -m verl.model_merger merge --backend fsdp --local_dir checkpoints/global_step_N/actor --target_dir out\` makes a folder ${
    scale
      ? 'in Hugging Face format of one'
      : `like
\`model/\` of one, which the lab reads again`
  }.
`,
  bupo: (_, { where, chosen }) => `### BuPO’s fork of verl

Needs a checkout of github.com/Trae1ounG/BuPO with its packages (vLLM 0.8, transformers 4.56, flash-attention), and ${where}:

    cd BuPO && bash /path/to/this/folder/run_bupo.sh

The lab counts the blocks that are applied, the fork counts from 0: layer k here is \`internal_layer\` k − 1 there. The script puts the fork’s
\`verl/models/custom_model\` on PYTHONPATH, because the fork names that folder by a placeholder, and says so where it is not started in a checkout.
${chosen.inner?.decaysFinalNorm ? FSDP : FSDP2}
With a KL it adds the three keys that the fork’s reference lacks.

What the fork does otherwise: its entropy bonus is of the whole model’s policy in the inner phase too, and reaches every layer; \`actor/entropy\` is
that policy’s in both phases. A padding token inside a response is left out of the text that it scores.
`,
  trl: () => `### TRL

Needs TRL 1.13 or later; a CPU will do.

    pip install trl && python3 train_trl.py

The trained model and \`trl_log.json\` are written to \`trained/\`. In Jupyter or on Colab open
\`train_trl.ipynb\`: it installs TRL, runs the same script and draws its curves.
`,
}

/** A value in a sentence. */
export const shown = (value: unknown): string =>
  value === '' ? 'nothing' : String(value ?? 'none')

/** Lines of Markdown. */
export const list = (lines: readonly string[]): string =>
  lines.length > 0 ? lines.map((line) => `- ${line}`).join('\n') : '- Nothing.'

const notes = ({ target, lost }: Starter): string =>
  `**${TARGET_NAMES[target]}**

${list(lost.map(({ path, value, why }) => `${path} (${shown(value)}): ${why}.`))}
`

/** The whole file. */
export function jobReadme(facts: ReadmeFacts): string {
  const { name, version, model, teacher, scale, warnings, starters, missing, phases, rows } = facts
  const isChecked = scale ? '' : ' `python3 check.py` says without a GPU what is in order.'
  return `# ${markdownText(name)}

An experiment of Understory ${version} as a job for other systems.${isChecked}
${warnings.length > 0 ? `\n${list(warnings)}\n` : ''}
## Start

${starters.map((starter) => HOW[starter.target](facts, starter)).join('\n')}
## What is in this folder

${scale ? `- No model: the scripts name \`${markdownText(scale.model)}\`, which is loaded from Hugging Face or a folder of that name.` : `- \`model/\`: Hugging Face format. ${model}`}
${teacher ? `- \`teacher/\`: ${teacher}\n` : ''}- \`data/\`: ${rows}
- \`reward.py\`: what responses are worth, in Python: the task’s own score, or the parts that the experiment composes.
- \`understory.json\`: the experiment, its seed and the lab’s version; \`lab train understory.json\` and the page open it.
- ${starters.map(({ script, target, steps }) => `\`${script}\`: ${steps} steps of ${TARGET_NAMES[target]}`).join('; ')}.

## What was not carried over

Phases:

${list(phases)}

Settings without a counterpart:

${starters.map(notes).join('\n')}
Everywhere: samples are drawn with other random numbers, so curves agree in distribution and not bit for bit; the optimizer begins without
moments and the learning rate with its warm-up; a padding token inside a response is left out of the text that is scored, while the lab shows it and scores 0.
${missing.length > 0 ? `\nNot in this folder:\n\n${list(missing.map(({ target, why }) => `${TARGET_NAMES[target]}: ${why}`))}\n` : ''}`
}
