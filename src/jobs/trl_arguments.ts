// Writes the arguments of TRL's GRPOConfig: what the table of settings says, and what a job sets
// because the defaults would bite.
import { type Carried, carry } from './settings/carry.ts'
import type { JobFacts } from './settings/setting.ts'

export interface TrlArguments extends Pick<Carried, 'lost' | 'refused'> {
  readonly arguments: ReadonlyMap<string, unknown>
}

/** The arguments of one job. TRL counts responses where verl counts prompts, and optimizer steps
 * where verl counts training steps. */
export function trlArguments(facts: JobFacts): TrlArguments {
  const { lost, refused, arguments: carried } = carry(facts, 'trl', '0.9')
  const { settings, experiment } = facts
  const { rollout, actor } = settings
  const decay = { min_lr_rate: actor.optim.min_lr_ratio }
  const fixed = {
    output_dir: 'out',
    steps_per_generation: rollout.train_batch_size / actor.ppo_mini_batch_size,
    gradient_accumulation_steps: 1,
    per_device_eval_batch_size: actor.ppo_mini_batch_size * rollout.n,
    eval_strategy: experiment.validation.test_freq !== null ? 'steps' : 'no',
    optim: 'adamw_torch',
    adam_epsilon: 1e-8,
    ...(actor.optim.lr_scheduler_type === 'cosine' && { lr_scheduler_kwargs: decay }),
    bf16: false,
    logging_steps: 1,
    save_strategy: 'no',
    report_to: 'none',
  }
  return {
    lost,
    refused,
    arguments: new Map<string, unknown>([...Object.entries(fixed), ...carried]),
  }
}
