// Maps TRL's names of what its trainers log, and what the lab, like verl, calls the same.
import { Series } from '../../../host/columns/series.ts'

interface Renamed {
  readonly names: readonly string[]
  /** The lab's number of TRL's; default: the same. */
  readonly convert?: (value: number) => number
}

const to = (...names: string[]): Renamed => ({ names })

/** By TRL's name, older ones too (trl/trainer/grpo_trainer.py, ppo_trainer.py, transformers
 * Trainer). */
const TRL_NAMES: Readonly<Record<string, Renamed>> = {
  reward: to('critic/score/mean', 'critic/rewards/mean'),
  reward_std: to('critic/score/std'),
  loss: to('actor/pg_loss'),
  grad_norm: to('actor/grad_norm'),
  learning_rate: to('actor/lr'),
  entropy: to('actor/entropy'),
  kl: to('actor/kl_loss'),
  clip_ratio: to('actor/pg_clipfrac'),
  'clip_ratio/region_mean': to('actor/pg_clipfrac'),
  completion_length: to('response_length/mean'),
  'completions/mean_length': to('response_length/mean'),
  'completions/min_length': to('response_length/min'),
  'completions/max_length': to('response_length/max'),
  'completions/clipped_ratio': to('response_length/clip_ratio'),
  frac_reward_zero_std: { names: ['group/informative'], convert: (share) => 1 - share },
  step_time: to('timing_s/step'),
  epoch: to('training/epoch'),
  'objective/scores': to('critic/score/mean'),
  'objective/rlhf_reward': to('critic/rewards/mean'),
  'policy/approxkl_avg': to('actor/ppo_kl'),
  'policy/clipfrac_avg': to('actor/pg_clipfrac'),
  'policy/entropy_avg': to('actor/entropy'),
  'loss/policy_avg': to('actor/pg_loss'),
  'loss/value_avg': to('critic/vf_loss'),
  'val/clipfrac_avg': to('critic/vf_clipfrac'),
  lr: to('actor/lr'),
}

/** A function that scores: `rewards/<function>/mean`, and without `/mean` in older versions. */
const PART = /^rewards\/(.+?)(?:\/(mean|std))?$/
/** What preference trainers log under the same prefix. */
const PREFERENCES: readonly string[] = ['chosen', 'rejected', 'accuracies', 'margins']

function partName(name: string): Renamed | undefined {
  const [, part, statistic = 'mean'] = PART.exec(name) ?? []
  return part === undefined || PREFERENCES.includes(part)
    ? undefined
    : to(`reward/${part}/${statistic}`)
}

/** An evaluation, with the name of its data where there are several. The accuracy of single tokens
 * is none of answers. */
const HELD_OUT = /^eval_(?:(.+)_)?(accuracy|reward)$/

function heldOutName(name: string): Renamed | undefined {
  const [, data = 'eval', measure] = HELD_OUT.exec(name) ?? []
  return measure === undefined || data.endsWith('mean_token')
    ? undefined
    : to(`val-core/${data}/${measure === 'reward' ? 'reward' : 'acc'}/mean@1`)
}

const renamed = (name: string): Renamed | undefined =>
  Object.hasOwn(TRL_NAMES, name) ? TRL_NAMES[name] : (partName(name) ?? heldOutName(name))

/** Under the lab's names; what it has no name for is `trl/…`. */
export function labMetrics(name: string, value: number): [string, number][] {
  const known = renamed(name)
  const { names, convert = (x: number) => x } = known ?? to(`trl/${name}`)
  return names.map((ours) => [ours, convert(value)])
}

/** Columns of a log under the lab's names. */
export interface Named {
  readonly series: ReadonlyMap<string, Series>
  /** By the lab's name what the log calls the column, where that is another. */
  readonly names: ReadonlyMap<string, string>
}

/** What every trainer calls its reward and the entropy of its policy, where the log has the lab's
 * name for neither. */
const PLAIN: readonly (readonly [ours: string, theirs: RegExp])[] = [
  ['critic/score/mean', /^(?:train\/)?(?:mean_|avg_)?rewards?(?:[/_](?:mean|avg))?$/],
  ['actor/entropy', /^(?:(?:train|policy)\/)?(?:mean_|avg_)?entropy(?:[/_](?:mean|avg))?$/],
]

/** verl's reward less its penalties: it stands for the score where a log lacks that. */
const SCORE = 'critic/score/mean'
const REWARDS = 'critic/rewards/mean'

/** Columns of which the one that plainly is the reward, and the one that is the entropy, have the
 * lab's names. */
export function withPlainNames({ series, names: before }: Named): Named {
  const found = new Map(
    PLAIN.flatMap(([ours, theirs]) => {
      const own = series.has(ours) ? [] : [...series.keys()].filter((name) => theirs.test(name))
      return own.length === 1 ? [[own[0], ours]] : []
    }),
  )
  const named = new Map([...series].map(([name, column]) => [found.get(name) ?? name, column]))
  const names = new Map(before)
  for (const [theirs, ours] of found) names.set(ours, before.get(theirs) ?? theirs)
  const rewards = named.get(REWARDS)
  if (rewards && !named.has(SCORE)) {
    named.set(SCORE, rewards)
    names.set(SCORE, names.get(REWARDS) ?? REWARDS)
  }
  return { series: named, names }
}

const PREFIXED = /^(train|eval)\/(.+)$/
/** What tells TRL's log: other trainers write `train/loss` too. */
const SIGNS: readonly string[] = ['train/reward', 'train/epoch']

/** Columns under the lab's names where they are TRL's under the prefixes with which transformers
 * hands them to Weights & Biases and TensorBoard; those without a name of the lab stay. */
export function withoutPrefixes(named: Named): Named {
  if (!SIGNS.some((name) => named.series.has(name))) return named
  const series = new Map<string, Series>()
  const names = new Map(named.names)
  for (const [name, column] of named.series) {
    const [, prefix, rest = ''] = PREFIXED.exec(name) ?? []
    const known = prefix && renamed(prefix === 'train' ? rest : `eval_${rest}`)
    const { names: own, convert } = known || to(name)
    for (const ours of own) {
      series.set(ours, convert ? converted(column, convert) : column)
      if (ours !== name) names.set(ours, name)
    }
  }
  return { series, names }
}

function converted({ steps, values, length, thinned }: Series, convert: (x: number) => number) {
  return Series.of(steps.slice(0, length), values.slice(0, length).map(convert), thinned)
}
