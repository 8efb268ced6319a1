// Declares DAPO's dynamic sampling: prompts whose responses all score the same teach a group
// estimator nothing, so others take their place (Yu et al. 2025, arXiv 2503.14476 section 3.2).

/** What a group's spread is measured in. */
const FILTER_METRICS = ['acc', 'score', 'seq_reward', 'seq_final_reward'] as const
/** acc: whether the task finds a response right. score: what it gives for it, also in part.
 * seq_reward: with the penalty for overlong ones. seq_final_reward: with the KL in the reward
 * too. */
export type FilterMetric = (typeof FILTER_METRICS)[number]

/** verl's algorithm.filter_groups. */
export interface FilterGroups {
  readonly enable: boolean
  readonly metric: FilterMetric
  /** Batches of prompts that one step draws at most; ≥ 1. */
  readonly max_num_gen_batches: number
}

/** Whether each group of `n` neighbouring values has any spread; a group of one counts as having it
 * (verl recipe/dapo/dapo_ray_trainer.py fit). Values are compared as they are: verl's std of equal
 * ones may round to above 0. */
export function informativeGroups(values: readonly number[], n: number): boolean[] {
  return Array.from({ length: values.length / n }, (_, group) => {
    const [first, ...others] = values.slice(group * n, (group + 1) * n)
    return others.length === 0 || others.some((value) => value !== first)
  })
}

/** One group of one of the batches that a step has drawn. */
export interface DrawnGroup {
  readonly genBatch: number
  readonly group: number
}

/** The `wanted` groups to train on, of batches whose groups are informative or not: the informative
 * ones in the order in which they were drawn, cut off at `wanted` as in verl. Where there are too
 * few, the others fill up, the first first; verl stops the run with an error there. Their
 * advantages are 0 in group estimators. */
export function chooseGroups(
  informative: readonly (readonly boolean[])[],
  wanted: number,
): DrawnGroup[] {
  const all = informative.flatMap((groups, genBatch) =>
    groups.map((isInformative, group) => ({ genBatch, group, isInformative })),
  )
  const first = all.filter(({ isInformative }) => isInformative)
  const rest = all.filter(({ isInformative }) => !isInformative)
  return [...first, ...rest].slice(0, wanted).map(({ genBatch, group }) => ({ genBatch, group }))
}

/** Whether a step that has drawn these batches draws another. */
export function needsMore(
  informative: readonly (readonly boolean[])[],
  wanted: number,
  { max_num_gen_batches }: Pick<FilterGroups, 'max_num_gen_batches'>,
): boolean {
  const found = informative.flat().filter(Boolean).length
  return found < wanted && informative.length < max_num_gen_batches
}

/** Batches drawn, under verl's name, and the share of their groups that were informative.
 * `group/informative` of the batch trained on is below 1 where that had to be filled up. */
export function filterMetrics(
  informative: readonly (readonly boolean[])[],
): Record<string, number> {
  const groups = informative.flat()
  return {
    'train/num_gen_batches': informative.length,
    'group/informative_drawn': groups.filter(Boolean).length / groups.length,
  }
}

/** Throws RangeError for settings that cannot be followed: no batch at all, or rewards that are not
 * known before the update. */
export function checkFilterGroups(
  { metric, max_num_gen_batches }: FilterGroups,
  useKlInReward: boolean,
): void {
  if (!(Number.isInteger(max_num_gen_batches) && max_num_gen_batches >= 1))
    throw new RangeError(
      `filter_groups.max_num_gen_batches: expected a whole number from 1 on, got ${max_num_gen_batches}`,
    )
  if (metric === 'seq_final_reward' && useKlInReward)
    throw new RangeError(
      'filter_groups.metric: expected another one than seq_final_reward with use_kl_in_reward, because the KL makes the rewards of every group differ',
    )
}
