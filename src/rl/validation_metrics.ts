// What validation says about N responses to each prompt: means, and bootstraps of best, worst and majority of n.
import { Mt19937 } from './mt19937.ts'
import { maximum, mean, minimum, variance } from './stats.ts'

/** data source → variable → metric, such as `best@4/mean` → value. */
export type ValidationMetrics = Record<string, Record<string, Record<string, number>>>

/** Values of one variable, one per sample. Strings are only voted with: the variable `pred`. */
export type Variable = readonly number[] | readonly string[]

/** One entry per sample in each list. */
export interface ValidationSamples {
  readonly data_sources: readonly string[]
  /** Same id = responses to the same prompt. */
  readonly sample_uids: readonly string[]
  /** `reward`, `acc` …; a variable named `pred` holds the answers that maj@n counts. */
  readonly variables: Readonly<Record<string, Variable>>
}

/** The n of best@n, worst@n and maj@n for N responses: 2, 4, 8 … below N, then N; none for N = 1. */
export function bootstrapSizes(responses: number): number[] {
  if (responses < 2) return []
  const sizes = []
  for (let n = 2; n < responses; n *= 2) sizes.push(n)
  return [...sizes, responses]
}

/**
 * Rows of a bootstrap: `n_bootstrap` × `subset_size` indices below `responses`, drawn with replacement, row-major; what
 * numpy.random.seed(seed) and numpy.random.choice give.
 */
export function bootstrapIndices(
  responses: number,
  subset_size: number,
  { seed = 42, n_bootstrap = 1000 }: { seed?: number; n_bootstrap?: number } = {},
): Uint32Array {
  return new Mt19937(seed).integers(responses, n_bootstrap * subset_size)
}

/** Position in `rows` of the first vote for the value with most votes; ties go to the value seen first. */
function majority(rows: Uint32Array, votes: Variable): number {
  const counts = new Map<string | number, { count: number; first: number }>()
  for (const row of rows) {
    const entry = counts.get(votes[row])
    if (entry) entry.count++
    else counts.set(votes[row], { count: 1, first: row })
  }
  let best = { count: 0, first: -1 }
  for (const entry of counts.values()) if (entry.count > best.count) best = entry
  return best.first
}

/** Mean and population standard deviation of `statistic` over the rows of a bootstrap. */
function bootstrap(
  indices: Uint32Array,
  subset_size: number,
  statistic: (rows: Uint32Array) => number,
): [mean: number, std: number] {
  const values = new Float64Array(indices.length / subset_size)
  for (let i = 0; i < values.length; i++)
    values[i] = statistic(indices.subarray(i * subset_size, (i + 1) * subset_size))
  return [mean(values), Math.sqrt(variance(values, { unbiased: false }))]
}

type Resample = (responses: number, subset_size: number) => Uint32Array

/** All metrics of one variable of one prompt. */
function promptMetrics(
  values: readonly number[],
  votes: Variable | undefined,
  resample: Resample,
): Record<string, number> {
  const N = values.length
  const metrics: Record<string, number> = { [`mean@${N}`]: mean(values) }
  if (N > 1) metrics[`std@${N}`] = Math.sqrt(variance(values, { unbiased: false }))
  for (const n of bootstrapSizes(N)) {
    const indices = resample(N, n)
    const report = (name: string, statistic: (rows: Uint32Array) => number) => {
      const [average, std] = bootstrap(indices, n, statistic)
      metrics[`${name}@${n}/mean`] = average
      metrics[`${name}@${n}/std`] = std
    }
    const picked = (rows: Uint32Array) => Float64Array.from(rows, (row) => values[row])
    report('best', (rows) => maximum(picked(rows)))
    report('worst', (rows) => minimum(picked(rows)))
    if (votes) report('maj', (rows) => values[majority(rows, votes)])
  }
  return metrics
}

/** Rows of each prompt of each data source, in order of first appearance. */
function groupRows({ data_sources, sample_uids }: ValidationSamples): Map<string, number[][]> {
  const groups = new Map<string, Map<string, number[]>>()
  data_sources.forEach((source, row) => {
    const prompts = groups.get(source) ?? new Map<string, number[]>()
    groups.set(source, prompts)
    const rows = prompts.get(sample_uids[row]) ?? []
    prompts.set(sample_uids[row], rows)
    rows.push(row)
  })
  return new Map([...groups].map(([source, prompts]) => [source, [...prompts.values()]]))
}

function isNumeric(values: Variable): values is readonly number[] {
  return typeof values[0] === 'number'
}

/**
 * Per data source and numeric variable, for prompts with N responses: `mean@N`, `std@N` (population), and for n = 2, 4, 8 …
 * below N and n = N the bootstraps `best@n`, `worst@n` and, with a variable `pred`, `maj@n` (most frequent `pred`, ties to
 * the value drawn first; its value is that vote's first), each `/mean` and `/std`; averaged over prompts. Every bootstrap
 * starts from `seed` anew, so all see the same draws. One response per prompt has only `mean@1`.
 *
 * verl verl/trainer/ppo/metric_utils.py process_validation_metrics, bootstrap_metric, calc_maj_val. RangeError when the lists
 * differ in length.
 */
export function processValidationMetrics(
  samples: ValidationSamples,
  options: { seed?: number; n_bootstrap?: number } = {},
): ValidationMetrics {
  const { data_sources, sample_uids, variables } = samples
  for (const [name, values] of Object.entries({ sample_uids, ...variables }))
    if (values.length !== data_sources.length)
      throw new RangeError(
        `${name}: expected ${data_sources.length} values, one per data source, got ${values.length}`,
      )
  const drawn = new Map<string, Uint32Array>()
  const resample: Resample = (responses, subset_size) => {
    const key = `${responses} ${subset_size}`
    const indices = drawn.get(key) ?? bootstrapIndices(responses, subset_size, options)
    drawn.set(key, indices)
    return indices
  }
  const result: ValidationMetrics = {}
  for (const [source, prompts] of groupRows(samples)) {
    result[source] = {}
    for (const [name, values] of Object.entries(variables)) {
      if (!isNumeric(values)) continue
      const votes = variables.pred
      const per_prompt = prompts.map((rows) => {
        const own = votes && (rows.map((row) => votes[row]) as Variable)
        return promptMetrics(
          rows.map((row) => values[row]),
          own,
          resample,
        )
      })
      result[source][name] = averageByName(per_prompt)
    }
  }
  return result
}

/** Mean of each metric over the prompts that have it: prompts may differ in their number of responses. */
function averageByName(per_prompt: readonly Record<string, number>[]): Record<string, number> {
  const values = new Map<string, number[]>()
  for (const metrics of per_prompt)
    for (const [name, value] of Object.entries(metrics))
      values.set(name, [...(values.get(name) ?? []), value])
  return Object.fromEntries([...values].map(([name, list]) => [name, mean(list)]))
}

/**
 * The names that verl logs: `val-core/{data source}/{variable}/{metric}` for mean, maj and best at the largest N of the
 * variable `acc` (of `reward` where there is no `acc`), `val-aux/…` for all others. verl verl/trainer/ppo/ray_trainer.py
 * RayPPOTrainer._validate.
 */
export function nameValidationMetrics(metrics: ValidationMetrics): Record<string, number> {
  const named: Record<string, number> = {}
  for (const [source, variables] of Object.entries(metrics)) {
    const core_variable = 'acc' in variables ? 'acc' : 'reward'
    for (const [variable, values] of Object.entries(variables)) {
      const sizes = Object.keys(values).map((name) => Number(/@(\d+)/.exec(name)?.[1]))
      const largest = maximum(sizes)
      for (const [name, value] of Object.entries(values)) {
        const is_core =
          variable === core_variable && new RegExp(`^(mean|maj|best)@${largest}(/|$)`).test(name)
        named[`${is_core ? 'val-core' : 'val-aux'}/${source}/${variable}/${name}`] = value
      }
    }
  }
  return named
}
