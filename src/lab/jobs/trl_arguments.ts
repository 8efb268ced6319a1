// The arguments of TRL's GRPOConfig: what the table of settings says, and what a job sets because the defaults would bite.
import { type Carried, carry, type Note } from './carry.ts'
import type { JobFacts } from './setting.ts'

export interface TrlArguments extends Pick<Carried, 'lost' | 'refused'> {
  readonly arguments: ReadonlyMap<string, unknown>
}

/** The arguments of one job. TRL counts responses where verl counts prompts, and optimizer steps where verl counts training steps. */
export function trlArguments(facts: JobFacts): TrlArguments {
  const { lost, refused, arguments: carried } = carry(facts, 'trl', '0.9')
  const { settings, experiment } = facts
  const { rollout, actor } = settings
  const mini_batches = rollout.train_batch_size / actor.ppo_mini_batch_size
  const decay = { min_lr_rate: actor.optim.min_lr_ratio }
  const fixed = {
    output_dir: 'out',
    steps_per_generation: mini_batches,
    gradient_accumulation_steps: 1,
    per_device_eval_batch_size: actor.ppo_mini_batch_size * rollout.n,
    eval_strategy: experiment.validation.test_freq > 0 ? 'steps' : 'no',
    optim: 'adamw_torch',
    adam_epsilon: 1e-8,
    ...(actor.optim.lr_scheduler_type === 'cosine' && { lr_scheduler_kwargs: decay }),
    bf16: false,
    logging_steps: 1,
    save_strategy: 'no',
    report_to: 'none',
  }
  return {
    lost: [...lost, ...differences(facts)],
    refused: [...refused, ...cannot(facts, mini_batches)],
    arguments: new Map<string, unknown>([...Object.entries(fixed), ...carried]),
  }
}

function cannot({ settings: { rollout, actor } }: JobFacts, mini_batches: number): Note[] {
  const notes: Note[] = []
  if (rollout.n < 2)
    notes.push({
      path: 'rollout.n',
      value: rollout.n,
      why: 'TRL compares the responses to one prompt, so it needs at least 2',
    })
  if (!Number.isInteger(mini_batches))
    notes.push({
      path: 'actor.ppo_mini_batch_size',
      value: actor.ppo_mini_batch_size,
      why: `expected a divisor of the ${rollout.train_batch_size} prompts of a step`,
    })
  return notes
}

/** What has the same name there and is not quite the same. */
const differences = ({ settings }: JobFacts): Note[] => [
  {
    path: 'algorithm.norm_adv_by_std_in_grpo',
    value: settings.algorithm.norm_adv_by_std_in_grpo,
    why: 'it adds 1e-4 to the spread of a group, the lab 1e-6',
  },
]
