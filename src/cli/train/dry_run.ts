// lab train --dry-run: says what would be trained, and what it needs. Everything before the first
// step has been done by then, so what is wrong with the files, the reward or the memory has been
// said already.
import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { settingsOf } from '../../document/experiment/schema/phase_settings.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { contentNames } from '../../host/content/named.ts'
import { memoryBudget, plannedBytes } from '../../host/worker/base/memory_budget.ts'
import { memorySize } from '../../kernels/device/base/errors.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { planMemory } from '../../rl/train/parts/memory.ts'
import { planTeacher } from '../../rl/train/parts/teacher_memory.ts'
import { print } from '../base/terminal.ts'
import type { Options } from './train_options.ts'

const counted = (n: number, one: string) => `${n.toLocaleString('en')} ${one}${n === 1 ? '' : 's'}`

function phaseLine(experiment: Experiment, phase: PhaseDocument): string {
  const steps = counted(phase.steps, 'step')
  if (phase.kind === 'sft') return `sft: ${steps} of ${counted(phase.batch_size, 'demonstration')}`
  if (phase.kind === 'reward_model')
    return `reward_model: ${steps} of ${counted(phase.batch_size, 'pair')}`
  const layer = phase.target_layer === 'final' ? 'the whole model' : `layer ${phase.target_layer}`
  if (phase.kind === 'preference')
    return `preference, ${layer}, ${phase.preference.loss_type}: ${steps} of ${counted(phase.batch_size, 'pair')}`
  if (phase.kind === 'distill') {
    const along = phase.layers === null ? '' : ` and layers ${phase.layers}`
    return `distill, ${layer}${along}, teacher ${phase.distillation.teacher}: ${steps} of ${counted(phase.batch_size, 'response')}`
  }
  const { rollout, adv_estimator } = settingsOf(experiment, phase)
  const { train_batch_size, n } = rollout
  return `rl, ${layer}, ${adv_estimator}: ${steps} of ${counted(train_batch_size, 'prompt')} × ${counted(n, 'response')}`
}

/** Prints what would be trained. `remarks`: what a person should know of it. */
export function describeRun(
  experiment: Experiment,
  { out, allow_bytes }: Pick<Options, 'out' | 'allow_bytes'>,
  remarks: readonly string[],
): number {
  const { name, seed, phases, reward, tools } = experiment
  const config = trainerConfig(experiment)
  const { num_hidden_layers, hidden_size } = config.model
  const weights = paramLayout(modelShape(config.model)).num_parameters
  const bytes = plannedBytes(experiment, (one) => planMemory(one).total())
  const taught = planTeacher(config)
  const allowed = allow_bytes ?? memoryBudget(totalmem() / 2 ** 30)
  const parts = reward.parts.map(
    ({ id, weight, name: file, function: own }) =>
      `${weight} × ${file ?? id}${own ? `:${own}` : ''}`,
  )
  const rows: [string, string][] = [
    ['task', `${config.task.id}, ${counted(config.task.train_size, 'problem')} to train on`],
    [
      'model',
      `${counted(num_hidden_layers, 'layer')} of ${hidden_size} channels, ${counted(weights, 'weight')}`,
    ],
    ...phases.map((phase, i): [string, string] => [`phase ${i + 1}`, phaseLine(experiment, phase)]),
    ['reward', parts.join(' + ') || 'the score of the task'],
    ...(tools.length > 0
      ? [['tools', tools.map((tool) => `${tool.name ?? tool.id}`).join(', ')] as [string, string]]
      : []),
    ...contentNames(experiment).map((file): [string, string] => [
      'file',
      `${file.name} (${file.hash})`,
    ]),
    [
      'memory',
      `${memorySize(bytes)} on the GPU, of at most ${memorySize(allowed)}${taught > 0 ? `; the teacher takes ${memorySize(taught)} of it` : ''}`,
    ],
    ['output', outputLine(out)],
  ]
  print(`${name ?? 'unnamed'}, seed ${seed}. Nothing is trained.`)
  for (const [head, says] of rows) print(`  ${head.padEnd(9)}${says}`)
  for (const remark of remarks) print(`  note     ${remark}`)
  return 0
}

function outputLine(out: string | undefined): string {
  if (out === undefined) return 'none is kept; add --out DIR'
  return existsSync(out) ? `${out}, which is there` : `${out}, which is made`
}
