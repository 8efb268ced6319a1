// TRL's names of what its GRPOTrainer logs, and what the lab, like verl, calls the same.

interface Renamed {
  readonly names: readonly string[]
  /** The lab's number of TRL's; default: the same. */
  readonly convert?: (value: number) => number
}

const to = (...names: string[]): Renamed => ({ names })

/** By TRL's name (trl/trainer/grpo_trainer.py, transformers Trainer). */
const TRL_NAMES: Readonly<Record<string, Renamed>> = {
  reward: to('critic/score/mean', 'critic/rewards/mean'),
  loss: to('actor/pg_loss'),
  grad_norm: to('actor/grad_norm'),
  learning_rate: to('actor/lr'),
  entropy: to('actor/entropy'),
  kl: to('actor/kl_loss'),
  'clip_ratio/region_mean': to('actor/pg_clipfrac'),
  'completions/mean_length': to('response_length/mean'),
  'completions/min_length': to('response_length/min'),
  'completions/max_length': to('response_length/max'),
  'completions/clipped_ratio': to('response_length/clip_ratio'),
  frac_reward_zero_std: { names: ['group/informative'], convert: (share) => 1 - share },
  step_time: to('timing_s/step'),
  epoch: to('training/epoch'),
  eval_reward: to('val-core/eval/reward/mean@1'),
}

/** Under the lab's names; what it has no name for is `trl/…`. */
export function labMetrics(name: string, value: number): [string, number][] {
  const known = Object.hasOwn(TRL_NAMES, name) ? TRL_NAMES[name] : undefined
  const { names, convert = (x: number) => x } = known ?? to(`trl/${name}`)
  return names.map((ours) => [ours, convert(value)])
}
