// Reads the result of a short run of each task, for the menu. `npm run tasks` computes it from
// bench/tasks.
import tasks_seen from './tasks_seen.json' with { type: 'json' }

/** Shares are between 0 and 1; `first` is at the end of the warm start. */
export interface TaskResult {
  /** Parameters of the task in which the run differs from the defaults. */
  readonly params: Readonly<Record<string, number>>
  readonly seed: number
  readonly adapter: string
  /** Weights of the model. */
  readonly weights: number
  readonly sft_steps: number
  readonly rl_steps: number
  readonly seconds: number
  /** Held-out problems that are answered right, greedily. */
  readonly accuracy_first: number
  readonly accuracy_last: number
  /** Mean score of samples on training problems, first and last eight steps of reinforcement. */
  readonly reward_first: number
  readonly reward_last: number
}

const SEEN: Readonly<Record<string, TaskResult>> = tasks_seen

/** Undefined where no run was made. */
export const taskResult = (id: string): TaskResult | undefined =>
  Object.hasOwn(SEEN, id) ? SEEN[id] : undefined

const percent = (share: number): string => `${Math.round(100 * share)} %`

/** `max_terms 2`; '' for the defaults. */
export const paramsText = ({ params }: Pick<TaskResult, 'params'>): string =>
  Object.entries(params)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/** The result in sentences: which share of which answers, before what and after it. A run that lost
 * says so. */
export function resultText(result: TaskResult): string {
  const { weights, sft_steps, rl_steps, accuracy_first, accuracy_last, adapter, seconds } = result
  const { reward_first, reward_last } = result
  const [first, last] = [percent(accuracy_first), percent(accuracy_last)]
  const hasLost = first !== last && accuracy_last < accuracy_first
  return (
    `One short run with ${paramsText(result) || 'the usual parameters'}, nothing tuned for the task: a model of ${Math.round(weights / 1000)}k weights ` +
    `imitates for ${sft_steps} steps, then learns by GRPO for ${rl_steps}. ` +
    `Greedy answers to held-out problems: ${first} correct before GRPO, ${last} after it${hasLost ? ', so here imitation alone was better' : ''}. ` +
    `Mean score of samples on training problems: ${reward_first.toFixed(2)} in the first eight steps of GRPO, ${reward_last.toFixed(2)} in the last ` +
    `(seed ${result.seed}, ${Math.round(seconds)} s, ${adapter}).`
  )
}
