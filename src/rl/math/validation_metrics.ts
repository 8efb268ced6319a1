// Summarises N responses to each prompt of a validation: means, and bootstraps of best, worst and
// majority of n.
import { Mt19937 } from './mt19937.ts'
import { maximum, mean, variance } from './stats.ts'

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

/** The n of best@n, worst@n and maj@n for N responses: 2, 4, 8 … below N, then N; none for N =
 * 1. */
export function bootstrapSizes(responses: number): number[] {
  if (responses < 2) return []
  const sizes = []
  for (let n = 2; n < responses; n *= 2) sizes.push(n)
  return [...sizes, responses]
}

/** Rows of a bootstrap: `n_bootstrap` × `subsetSize` indices below `responses`, drawn with
 * replacement, row-major; what numpy.random.seed(seed) and numpy.random.choice give. */
export function bootstrapIndices(
  responses: number,
  subsetSize: number,
  { seed = 42, n_bootstrap = 1000 }: { seed?: number; n_bootstrap?: number } = {},
): Uint32Array {
  return new Mt19937(seed).integers(responses, n_bootstrap * subsetSize)
}

/** The largest value of each row of `size` indices, or by `sign` -1 the smallest. */
function extremes(values: Float64Array, indices: Uint32Array, size: number, sign: 1 | -1) {
  const results = new Float64Array(indices.length / size)
  let i = 0
  for (let row = 0; row < results.length; row++) {
    let best = Number.NEGATIVE_INFINITY
    for (const end = i + size; i < end; i++) best = Math.max(best, sign * values[indices[i]])
    results[row] = sign * best
  }
  return results
}

/** The value at each index. */
function gather(values: Float64Array, indices: Uint32Array): Float64Array {
  const results = new Float64Array(indices.length)
  for (let i = 0; i < results.length; i++) results[i] = values[indices[i]]
  return results
}

/** Of each row the first vote for the answer with most votes; ties go to the answer seen first.
 * `votes`: see `answerIds`. */
function majorities(votes: Uint32Array, indices: Uint32Array, size: number): Uint32Array {
  const counts = new Uint32Array(votes.length)
  const firstSeen = new Uint32Array(votes.length)
  const picked = new Uint32Array(indices.length / size)
  for (let row = 0; row < picked.length; row++) {
    const first = row * size
    counts.fill(0)
    for (let i = first; i < first + size; i++) {
      const answer = votes[indices[i]]
      if (counts[answer]++ === 0) firstSeen[answer] = indices[i]
    }
    let best = votes[indices[first]]
    for (let i = first + 1; i < first + size; i++)
      if (counts[votes[indices[i]]] > counts[best]) best = votes[indices[i]]
    picked[row] = firstSeen[best]
  }
  return picked
}

/** Equal answers have equal numbers, from 0 in order of appearance. */
function answerIds(votes: readonly (string | number)[]): Uint32Array {
  const ids = new Map<string | number, number>()
  return Uint32Array.from(votes, (vote) => {
    const id = ids.get(vote) ?? ids.size
    ids.set(vote, id)
    return id
  })
}

type Resample = (responses: number, subsetSize: number) => Uint32Array

/** All metrics of one variable of one prompt; `votes`: see `answerIds`. */
type PromptMetrics = (
  values: Float64Array,
  votes: Uint32Array | undefined,
) => Readonly<Record<string, number>>

/** The value for a key, computed when it is first asked for. */
function remembering<T>(): (key: string, compute: () => T) => T {
  const known = new Map<string, T>()
  return (key, compute) => {
    const value = known.get(key) ?? compute()
    known.set(key, value)
    return value
  }
}

/** Remembers what it computed: of 0-or-1 scores there are few different prompts, and a bootstrap of
 * each is slow. */
function promptMetrics(resample: Resample): PromptMetrics {
  const summaries = remembering<{ average: number; std: number }>()
  const elected = remembering<Uint32Array>()
  return (values, votes) => {
    const N = values.length
    const metrics: Record<string, number> = { [`mean@${N}`]: mean(values) }
    if (N > 1) metrics[`std@${N}`] = Math.sqrt(variance(values, { unbiased: false }))
    const prompt = values.join()
    for (const n of bootstrapSizes(N)) {
      const indices = resample(N, n)
      const report = (name: string, key: string, bootstrap: () => Float64Array) => {
        const { average, std } = summaries(`${name}@${n} ${N} ${key}`, () => {
          const results = bootstrap()
          const std = Math.sqrt(variance(results, { unbiased: false }))
          return { average: mean(results), std }
        })
        metrics[`${name}@${n}/mean`] = average
        metrics[`${name}@${n}/std`] = std
      }
      report('best', prompt, () => extremes(values, indices, n, 1))
      report('worst', prompt, () => extremes(values, indices, n, -1))
      if (!votes) continue
      const answers = votes.join()
      report('maj', `${prompt} ${answers}`, () =>
        gather(
          values,
          elected(`${n} ${answers}`, () => majorities(votes, indices, n)),
        ),
      )
    }
    return metrics
  }
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

/** Per data source and numeric variable, for prompts with N responses: `mean@N`, `std@N`
 * (population), and for n = 2, 4, 8 … below N and n = N the bootstraps `best@n`, `worst@n` and,
 * with a variable `pred`, `maj@n` (most frequent `pred`, ties to the value drawn first; its value
 * is that vote's first), each `/mean` and `/std`; averaged over prompts. Every bootstrap starts
 * from `seed` again, so all see the same draws. One response per prompt has only `mean@1`.
 *
 * verl verl/trainer/ppo/metric_utils.py process_validation_metrics, bootstrap_metric, calc_maj_val.
 * RangeError when the lists differ in length. */
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
  const resample: Resample = (responses, subsetSize) => {
    const key = `${responses} ${subsetSize}`
    const indices = drawn.get(key) ?? bootstrapIndices(responses, subsetSize, options)
    drawn.set(key, indices)
    return indices
  }
  const metricsOf = promptMetrics(resample)
  const result: ValidationMetrics = {}
  for (const [source, prompts] of groupRows(samples)) {
    result[source] = {}
    for (const [name, values] of Object.entries(variables)) {
      if (!isNumeric(values)) continue
      const votes = variables.pred
      const perPrompt = prompts.map((rows) => {
        const own = votes && answerIds(rows.map((row) => votes[row]))
        return metricsOf(
          Float64Array.from(rows, (row) => values[row]),
          own,
        )
      })
      result[source][name] = averageByName(perPrompt)
    }
  }
  return result
}

/** Mean of each metric over the prompts that have it: prompts may differ in their number of
 * responses. */
function averageByName(
  perPrompt: readonly Readonly<Record<string, number>>[],
): Record<string, number> {
  const values = new Map<string, number[]>()
  for (const metrics of perPrompt)
    for (const [name, value] of Object.entries(metrics)) {
      const list = values.get(name) ?? []
      values.set(name, list)
      list.push(value)
    }
  return Object.fromEntries([...values].map(([name, list]) => [name, mean(list)]))
}

/** How likely at least one of k responses to a prompt is right, estimated without bias from n
 * responses of which c are: 1 − C(n − c, k) / C(n, k). For 1 ≤ k ≤ n.
 *
 * Source: Chen et al. 2021, arXiv 2107.03374, eq. 1; figure 6 of BuPO, arXiv 2512.19673. */
export function passAtK(n: number, c: number, k: number): number {
  let allWrong = 1
  // Below k wrong responses one of the factors is 0.
  for (let i = n - c + 1; i <= n; i++) allWrong *= Math.max(0, 1 - k / i)
  return 1 - allWrong
}

/** `val-aux/{data source}/pass@{k}/mean` for k = 1, 2, 4, 8 … below n and k = n: the mean of
 * passAtK over prompts with n responses each; `scores` holds those to one prompt side by side,
 * right where 1. None for n = 1, where it is the accuracy. verl logs nothing of that name: its
 * third part is a variable without @. */
export function passMetrics(
  source: string,
  scores: readonly number[],
  n: number,
): Record<string, number> {
  if (n < 2) return {}
  const correct = Array.from(
    { length: scores.length / n },
    (_, i) => scores.slice(i * n, (i + 1) * n).filter((score) => score === 1).length,
  )
  return Object.fromEntries(
    [1, ...bootstrapSizes(n)].map((k) => [
      `val-aux/${source}/pass@${k}/mean`,
      mean(correct.map((c) => passAtK(n, c, k))),
    ]),
  )
}

/** The names that verl logs: `val-core/{data source}/{variable}/{metric}` for mean, maj and best at
 * the largest N of the variable `acc` (of `reward` where there is no `acc`), `val-aux/…` for all
 * others. verl verl/trainer/ppo/ray_trainer.py RayPPOTrainer._validate. */
export function nameValidationMetrics(metrics: ValidationMetrics): Record<string, number> {
  const named: Record<string, number> = {}
  for (const [source, variables] of Object.entries(metrics)) {
    const coreVariable = 'acc' in variables ? 'acc' : 'reward'
    for (const [variable, values] of Object.entries(variables)) {
      const sizes = Object.keys(values).map((name) => Number(/@(\d+)/.exec(name)?.[1]))
      const largest = maximum(sizes)
      for (const [name, value] of Object.entries(values)) {
        const isCore =
          variable === coreVariable && new RegExp(`^(mean|maj|best)@${largest}(/|$)`).test(name)
        named[`${isCore ? 'val-core' : 'val-aux'}/${source}/${variable}/${name}`] = value
      }
    }
  }
  return named
}
