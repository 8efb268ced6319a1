// Makes the short run of a task: one small model for all of them, a warm start, then GRPO. What it
// came to is the result that the menu states.

import type { RunFacts } from '../../src/cli/output/run_facts.ts'
import { parseExperiment } from '../../src/document/experiment/experiment.ts'
import { taskOf } from '../../src/document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import type { TaskResult } from '../../src/document/presets/task_results.ts'
import { modelShape } from '../../src/model/layout/config.ts'
import { paramLayout } from '../../src/model/layout/params.ts'
import { mean } from '../../src/rl/math/stats.ts'
import { TASKS } from '../../src/tasks/index.ts'
import type { TaskKind } from '../../src/tasks/task/task.ts'
import { type Settings, settingsOf } from '../presets/preset_run.ts'

/** The result of a task as it is kept, and what its run differed from the defaults in. */
export interface TaskRow {
  readonly task: string
  readonly settings: Settings
  readonly result: TaskResult
}

const BASE = {
  model: {
    hidden_size: 64,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    intermediate_size: 192,
  },
  phases: [
    { kind: 'sft', steps: 200, batch_size: 128, optim: { lr: 0.002, lr_warmup_steps: 20 } },
    { kind: 'rl', steps: 150 },
  ],
  rollout: { train_batch_size: 32, n: 8 },
  actor: { ppo_mini_batch_size: 16, optim: { lr: 0.0005, lr_warmup_steps: 5 } },
  probe: { freq: null },
}
const MOST_PROMPTS = 256

/** What a task needs besides its parameters. */
const OWN: Readonly<Record<string, object>> = {
  calculator_products: {
    tools: [{ id: 'calculator' }],
    rollout: { ...BASE.rollout, max_turns: 2 },
  },
}

const kindOf = (id: string): TaskKind => {
  const kind = TASKS.find((one) => one.id === id)
  if (!kind) throw new RangeError(`there is no task ${id}`)
  return kind
}

/** The experiment of a task's short run. */
export function shortRun(id: string, seed: number): Experiment {
  const kind = kindOf(id)
  const task = { id, ...kind.short_run }
  const parsed = parseExperiment({
    ...BASE,
    ...OWN[id],
    name: `${kind.name}, short run`,
    seed,
    task,
    validation: { test_freq: 50, prompts: Math.min(MOST_PROMPTS, testSize(task)), n: 1 },
  })
  if (parsed.ok) return parsed.experiment
  throw new RangeError(`${id}: ${parsed.issues[0].path}: ${parsed.issues[0].message}`)
}

function testSize(task: { readonly id: string }): number {
  const parsed = parseExperiment({ task })
  if (parsed.ok) return taskOf(parsed.experiment.task).test_size
  throw new RangeError(`${task.id}: ${parsed.issues[0].message}`)
}

type Row = { readonly step: number; readonly data: Readonly<Record<string, number | null>> }

const EDGE = 8
const rounded = (value: number): number => Number(value.toFixed(4))

/** The result of a finished run from the metrics of its steps. Throws RangeError where it has
 * none. */
export function taskRow(
  experiment: Experiment,
  { adapter, wall_time_s }: Pick<RunFacts, 'adapter' | 'wall_time_s'>,
  rows: readonly Row[],
): TaskRow {
  const { id } = experiment.task
  const stepsOf = (kind: string) =>
    experiment.phases.reduce((sum, phase) => sum + (phase.kind === kind ? phase.steps : 0), 0)
  const sft_steps = stepsOf('sft')
  const after = rows.filter(({ step }) => step >= sft_steps)
  const values = (metric: string) =>
    after.flatMap(({ data: { [metric]: value } }) => (value === null ? [] : (value ?? [])))
  const [accuracy, reward] = [values(`val-aux/${id}/acc/greedy`), values('critic/score/mean')]
  if (accuracy.length < 2 || reward.length === 0)
    throw new RangeError(`${id}: expected validation before and after reinforcement`)
  return {
    task: id,
    settings: settingsOf(experiment),
    result: {
      params: kindOf(id).short_run ?? {},
      seed: experiment.seed,
      adapter: adapter.description,
      weights: paramLayout(modelShape(trainerConfig(experiment).model)).num_parameters,
      sft_steps,
      rl_steps: stepsOf('rl'),
      seconds: rounded(wall_time_s),
      accuracy_first: rounded(accuracy[0]),
      accuracy_last: rounded(accuracy.at(-1) ?? 0),
      reward_first: rounded(mean(reward.slice(0, EDGE))),
      reward_last: rounded(mean(reward.slice(-EDGE))),
    },
  }
}
