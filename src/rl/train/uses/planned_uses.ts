// Plans the memory of a model in each use, from its config alone: to look into it, and to train it.

import type { ModelConfig } from '../../../model/layout/config.ts'
import { USUAL_LORA } from '../../../model/layout/lora.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { type ModelOutline, planOpened } from '../../look/opened_model.ts'
import { planMemory } from '../parts/memory.ts'

/** A batch that memory is planned for: what one step of reinforcement trains on. */
const PLANNED_BATCH = { prompts: 8, n: 8, prompt_length: 64, response_length: 64 } as const

/** GPU memory of a model in each use, and its largest buffer. */
export interface PlannedUse {
  readonly what: 'look' | 'lora' | 'full'
  /** It trains with gradient checkpointing: less memory for more arithmetic. */
  readonly enable_gradient_checkpointing: boolean
  readonly bytes: number
  readonly largest: { readonly label: string; readonly bytes: number }
}

/** Plans a model that has only been described: each training as it is, then with gradient
 * checkpointing. `usual`: a run whose other settings are taken. Allocates nothing. */
export function planUses(facts: ModelOutline, usual: TrainerConfig): readonly PlannedUse[] {
  const { config, exactDtype } = facts
  const adapted = { ...config, dtype: exactDtype, lora: USUAL_LORA }
  const trained = [
    ['lora', adapted],
    ['full', config],
  ] as const
  return [
    { what: 'look', enable_gradient_checkpointing: false, ...planOpened(facts) },
    ...trained.flatMap(([what, model]) =>
      [false, true].map((enable_gradient_checkpointing) => {
        const run = plannedRun(model, usual)
        const plan = planMemory({ ...run, enable_gradient_checkpointing })
        return { what, enable_gradient_checkpointing, bytes: plan.total(), largest: plan.largest }
      }),
    ),
  ]
}

/** GRPO, and nothing that is measured beside it. */
function plannedRun(config: ModelConfig, usual: TrainerConfig): TrainerConfig {
  const { prompts, n, prompt_length, response_length } = PLANNED_BATCH
  const phases = usual.phases.flatMap((phase) =>
    phase.kind === 'rl'
      ? {
          ...phase,
          target_layer: config.num_hidden_layers,
          rollout: {
            ...phase.rollout,
            train_batch_size: prompts,
            n,
            max_response_length: response_length,
          },
          actor: { ...phase.actor, ppo_mini_batch_size: prompts },
        }
      : [],
  )
  return {
    ...usual,
    model: config,
    phases,
    task: {
      ...usual.task,
      max_prompt_length: prompt_length,
      max_response_length: response_length,
    },
    validation: { ...usual.validation, test_freq: null },
    probe: { ...usual.probe, freq: null },
  }
}
