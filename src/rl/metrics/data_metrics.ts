// Computes the metrics of one batch: scores, advantages, values, lengths, and what each part of the
// step cost.
import { fraction, maximum, mean, minimum, select, sum, variance } from '../math/stats.ts'

type Numbers = ArrayLike<number>

/** Lengths of a batch of B rows: attention_mask [B, P + R], prompts left-padded, responses
 * right-padded. */
export interface AttentionRows {
  readonly attention_mask: Numbers
  /** P: columns of the prompt. */
  readonly prompt_length: number
  /** R: columns of the response. */
  readonly response_length: number
  /** Tokens of each row's prompt and response, where they are not what the mask counts; [B]
   * each. */
  readonly lengths?: { readonly prompts: Numbers; readonly responses: Numbers }
}

/** One batch as the trainer has it after the advantages; everything but attention_mask is [B,
 * R]. */
export interface DataMetricsInput extends AttentionRows {
  readonly token_level_scores: Numbers
  /** The scores after the in-reward KL penalty. */
  readonly token_level_rewards: Numbers
  readonly advantages: Numbers
  readonly returns: Numbers
  /** 1 = trained on; 0 = padding, an observation, or rejected. */
  readonly response_mask: Numbers
  /** Columns that a response may fill, where those are fewer than R. */
  readonly max_response_length?: number
  /** V of a critic; absent without one. */
  readonly values?: Numbers
}

/** Prompt and response tokens of each row. RangeError unless the mask is whole rows of P + R
 * columns. */
function rowLengths({
  attention_mask,
  prompt_length: P,
  response_length: R,
  lengths,
}: AttentionRows) {
  const rows = attention_mask.length / (P + R)
  if (!Number.isInteger(rows) || rows < 1)
    throw new RangeError(
      `attention_mask: expected rows of ${P} + ${R} columns, got ${attention_mask.length} values`,
    )
  if (lengths) return { rows, ...lengths }
  const prompts = new Float64Array(rows)
  const responses = new Float64Array(rows)
  for (let row = 0, i = 0; row < rows; row++) {
    for (let end = i + P; i < end; i++) prompts[row] += attention_mask[i]
    for (let end = i + R; i < end; i++) responses[row] += attention_mask[i]
  }
  return { rows, prompts, responses }
}

/** Mean, maximum and minimum of a quantity of every row; nothing without rows. */
export function range(name: string, x: Numbers): Record<string, number> {
  if (x.length === 0) return {}
  return { [`${name}/mean`]: mean(x), [`${name}/max`]: maximum(x), [`${name}/min`]: minimum(x) }
}

/** As `range`, and the share of rows that fill all `columns`. */
function lengthMetrics(name: string, lengths: Numbers, columns: number): Record<string, number> {
  if (lengths.length === 0) return {}
  return {
    ...range(name, lengths),
    [`${name}/clip_ratio`]: fraction(lengths, (length) => length === columns),
  }
}

/** Advantages, returns and values of the tokens with response_mask 1; empty when there are none. */
function tokenMetrics(input: DataMetricsInput): Record<string, number> {
  const valid = (x: Numbers) => select(x, input.response_mask)
  const returns = valid(input.returns)
  if (returns.length === 0) return {}
  const metrics = {
    ...range('critic/advantages', valid(input.advantages)),
    ...range('critic/returns', returns),
  }
  if (!input.values) return metrics
  const values = valid(input.values)
  Object.assign(metrics, range('critic/values', values))
  if (values.length < 2) return metrics
  const unexplained = variance(
    returns.map((r, i) => r - values[i]),
    { unbiased: true },
  )
  const total = variance(returns, { unbiased: true })
  return { ...metrics, 'critic/vf_explained_var': 1 - unexplained / (total + 1e-5) }
}

/** Metrics of one batch under verl's names (verl/trainer/ppo/metric_utils.py compute_data_metrics).
 * Scores and rewards are sums over a row, of rows with a response; lengths count the attention
 * mask; `response_length_non_aborted` leaves out empty responses. Without `values` there are no
 * value metrics; what needs more responses or valid tokens than there are is absent, where verl
 * reports NaN.
 *
 * RangeError when a tensor is not [B, R]. */
export function computeDataMetrics(input: DataMetricsInput): Record<string, number> {
  const { prompt_length: P, response_length: R, max_response_length = R } = input
  const { rows, prompts, responses } = rowLengths(input)
  const { token_level_scores, token_level_rewards, advantages, returns, response_mask } = input
  const tensors = { token_level_scores, token_level_rewards, advantages, returns, response_mask }
  for (const [name, x] of Object.entries({ ...tensors, values: input.values ?? returns }))
    if (x.length !== rows * R)
      throw new RangeError(`${name}: expected ${rows} x ${R} values, got ${x.length}`)
  const written = select(responses, responses)
  const rowSums = (x: Numbers) => {
    const sums = new Float64Array(rows)
    for (let b = 0, i = 0; b < rows; b++) for (let end = i + R; i < end; i++) sums[b] += x[i]
    return select(sums, responses)
  }
  return {
    ...range('critic/score', rowSums(token_level_scores)),
    ...range('critic/rewards', rowSums(token_level_rewards)),
    ...tokenMetrics(input),
    ...lengthMetrics('response_length', responses, max_response_length),
    ...lengthMetrics('response_length_non_aborted', written, max_response_length),
    'response/aborted_ratio': fraction(responses, (length) => length === 0),
    ...lengthMetrics('prompt_length', prompts, P),
  }
}

/** Sections of a step whose time is also given per token, and whether prompts count. */
const TIMED_PER_TOKEN = {
  gen: 'response',
  ref: 'all',
  values: 'all',
  adv: 'all',
  update_critic: 'all',
  update_actor: 'all',
} as const

/** `timing_s/<section>` for every measured section (seconds) and `timing_per_token_ms/<section>`
 * for those that verl divides by tokens: generation by response tokens, the rest by all
 * (verl/trainer/ppo/metric_utils.py compute_timing_metrics). */
export function computeTimingMetrics(
  batch: AttentionRows,
  timingRaw: Readonly<Record<string, number>>,
): Record<string, number> {
  const { prompts, responses } = rowLengths(batch)
  const tokens = { response: sum(responses), all: sum(prompts) + sum(responses) }
  const metrics: Record<string, number> = {}
  for (const [section, seconds] of Object.entries(timingRaw))
    metrics[`timing_s/${section}`] = seconds
  for (const [section, counted] of Object.entries(TIMED_PER_TOKEN))
    if (section in timingRaw && tokens[counted] > 0)
      metrics[`timing_per_token_ms/${section}`] = (timingRaw[section] * 1000) / tokens[counted]
  return metrics
}

/** Tokens of the batch (prompt and response), seconds of the step, and tokens per second per GPU
 * (verl/trainer/ppo/metric_utils.py compute_throughout_metrics). RangeError unless timingRaw.step
 * is a positive time. */
export function computeThroughputMetrics(
  batch: AttentionRows,
  timingRaw: Readonly<Record<string, number>>,
  nGpus = 1,
): Record<string, number> {
  const { step } = timingRaw
  if (!(step > 0)) throw new RangeError(`timing_raw.step: expected seconds above 0, got ${step}`)
  const { prompts, responses } = rowLengths(batch)
  const totalNumTokens = sum(prompts) + sum(responses)
  return {
    'perf/total_num_tokens': totalNumTokens,
    'perf/time_per_step': step,
    'perf/throughput': totalNumTokens / (step * nGpus),
  }
}
