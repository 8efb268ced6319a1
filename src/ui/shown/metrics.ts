// Names the metrics that the page draws. They are verl's; a task's accuracy carries the task's
// id.

/** What is trained on: the task's score, or the reward model's where a phase says so. */
export const REWARD = 'critic/score/mean'
/** The task's score of sampled responses, also where a reward model's is trained on. */
export const TASK_SCORE = 'task/score/mean'
export const HELD_OUT_PREFERENCES = 'reward_model/held_out_accuracy'
/** How often the policy of a preference phase prefers the better response of a held-out pair; TRL's
 * name. */
export const HELD_OUT_REWARDS = 'eval_rewards/accuracies'
export const greedyAccuracy = (taskId: string) => `val-aux/${taskId}/acc/greedy`
export const sampledAccuracy = (taskId: string, n: number) => `val-core/${taskId}/acc/mean@${n}`
/** Of a composed reward, in its own units. */
export const heldOutReward = (taskId: string, n: number) => `val-aux/${taskId}/reward/mean@${n}`
/** Of a part of a composed reward, without its weight. */
export const heldOutPart = (taskId: string, part: string, n: number) =>
  `val-aux/${taskId}/${part}/mean@${n}`
/** Its data, what it is the mean of, and of how many answers to a problem. */
export const HELD_OUT_MEAN = /^val-core\/(.+)\/(acc|reward)\/mean@(\d+)$/
/** Whether a metric says how many answers are right. */
const isAccuracy = (metric: string): boolean => /^val-.*\/acc\//.test(metric)
/** The means of held-out answers in a run of another trainer, which names them by its own data
 * sources: accuracies first. */
export const foreignHeldOut = (metrics: Iterable<string>): readonly string[] =>
  [...metrics]
    .filter((metric) => HELD_OUT_MEAN.test(metric))
    .sort((a, b) => Number(isAccuracy(b)) - Number(isAccuracy(a)))
/** Whether the scores of a log may be shares of right answers: it has an accuracy of such. What
 * else a log calls a reward can be anything. */
export const hasShares = (metrics: Iterable<string>): boolean => [...metrics].some(isAccuracy)
/** The name of a set of problems without the names of those who made it: 'gsm8k' of
 * 'openai/gsm8k'. */
export const plainData = (data: string): string => data.slice(data.lastIndexOf('/') + 1)
/** 'accuracy, gsm8k', or 'held-out accuracy, gsm8k': what one of them is of; undefined for any
 * other metric. */
export function heldOutWords(metric: string, isSaid = false): string | undefined {
  const [, data, measure, n] = HELD_OUT_MEAN.exec(metric) ?? []
  if (data === undefined) return undefined
  const of = n === '1' ? plainData(data) : `${plainData(data)} (mean of ${n})`
  return isSaid
    ? `held-out ${measure === 'acc' ? 'accuracy' : 'reward'}, ${of}`
    : `${measure === 'acc' ? 'accuracy' : 'reward'}, ${of}`
}
/** The entropy that a log of another trainer has: of the whole model's policy. */
export const LOGGED_ENTROPY = 'actor/entropy'
export const layerEntropy = (layer: number) => `layer/entropy/${layer}`
/** The final policy's entropy. `log`: the metrics of a log, which calls it as the lab does only
 * where the lab wrote it. */
export function finalEntropy(
  layers: number,
  log?: Pick<ReadonlySet<string>, 'has'> | false,
): string {
  const own = layerEntropy(layers)
  return !log || log.has(own) ? own : LOGGED_ENTROPY
}

/** Count of skipped updates and the last step that had one; undefined when there was none. */
export function skippedUpdates(
  columns: { steps: ArrayLike<number>; values: ArrayLike<number>; length: number } | undefined,
): { count: number; lastStep: number } | undefined {
  let count = 0
  let lastStep = 0
  for (let i = 0; i < (columns?.length ?? 0); i++)
    if (columns && columns.values[i] > 0) {
      count += columns.values[i]
      lastStep = columns.steps[i]
    }
  return count > 0 ? { count, lastStep } : undefined
}
