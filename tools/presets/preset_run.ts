// Reduces a run of a preset to a few figures: the rows that the menu's cards and docs/presets.md
// are computed from.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LabFailure } from '../../src/cli/base/command.ts'
import { rowsOf } from '../../src/cli/output/line_file.ts'
import type { RunFacts } from '../../src/cli/output/run_facts.ts'
import { newPhase, parseExperiment } from '../../src/document/experiment/experiment.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import { REWARD, TASK_SCORE } from '../../src/record/diagnosis/evidence.ts'
import { maximum, mean } from '../../src/rl/math/stats.ts'
import { type PartsOfReward, type Point, partsOfReward } from './reward_parts.ts'

/** The entropy of every layer's policy, layer 0 first, nats. */
type LayerEntropies = readonly number[]

export interface PhaseEntropies {
  readonly target_layer: number
  readonly steps: number
  /** After the first and the last observed step of the phase, each on rows of its own batch. */
  readonly first: LayerEntropies
  readonly last: LayerEntropies
}

/** One run. Shares are between 0 and 1; what a preset does not measure is absent. */
export interface PresetRun {
  readonly seed: number
  readonly adapter: string
  /** Steps of all phases that ran. */
  readonly steps: number
  /** Whether it began from saved weights of its seed's warm start: the same weights as a whole
   * run's, other samples after them. */
  readonly from_warm_start: boolean
  /** Held-out accuracy, greedy and of samples, between the two nearest evaluations; step 0 = the
   * end of the warm start. */
  readonly greedy: readonly Point[]
  readonly sampled: readonly Point[]
  /** Mean over all evaluations of the reinforcement. */
  readonly greedy_mean: number
  /** Sampled reward on training prompts, mean of the five steps up to the one named; absent where
   * nothing is reinforced. */
  readonly reward?: readonly Point[]
  /** Its mean over the first and the last eight steps. */
  readonly reward_first?: number
  readonly reward_last?: number
  /** Of held-out pairs of preferences after the last step: the share in the right order. */
  readonly preference_accuracy?: number
  /** The first step of reinforcement from which on the reward never reaches LOST again. */
  readonly lost_at?: number
  /** The same means of the task's own score, where a reward model gives the reward. */
  readonly task_score_first?: number
  readonly task_score_last?: number
  /** Share of held-out pairs in the right order after the reward model's last step. */
  readonly reward_model_accuracy?: number
  /** KL per token to where reinforcement began, mean of the last eight steps, nats. */
  readonly kl_last?: number
  /** Share of the returns' variance that the critic explains, means of the first and the last eight
   * steps. */
  readonly explained_first?: number
  readonly explained_last?: number
  /** Calls of tools per response, means of the first and the last eight steps. */
  readonly tool_calls_first?: number
  readonly tool_calls_last?: number
  /** Batches drawn for one that is trained on, mean over all steps. */
  readonly gen_batches?: number
  /** The largest share of tokens that the clip held in any step. */
  readonly clipfrac_max?: number
  /** How far the policy is from its teacher, nats per token, means of the first and the last eight
   * steps. */
  readonly teacher_first?: number
  readonly teacher_last?: number
  /** The first step of reinforcement on the task itself, where a curriculum begins with easier
   * ones; absent where none came to it. */
  readonly whole_task_at?: number
  /** The smallest share of the set that a gate admitted, and the share at the end. */
  readonly admitted_min?: number
  readonly admitted_last?: number
  /** Parts of the reward, where it has several or one that is not the task's score. */
  readonly parts?: PartsOfReward
  /** The largest weight that an entropy bonus had. */
  readonly entropy_coeff_max?: number
  /** One entry for each phase of reinforcement, of preferences or of distillation. */
  readonly phases: readonly PhaseEntropies[]
}

/** The runs of a preset, and what it differed from the defaults in when they were made. */
export interface PresetRows {
  readonly preset: string
  readonly settings: Settings
  /** Seeds growing. */
  readonly runs: readonly PresetRun[]
}

export type Settings = Readonly<Record<string, unknown>>

/** Of the whole policy in a phase of distillation, of sampled tokens in one of reinforcement. */
const TO_TEACHER = ['distillation/loss', 'distillation/reverse_kl']
const LEVEL = 'curriculum/value'
const ADMITTED = 'curriculum/admitted'
const BONUS = 'actor/entropy_coeff'
const PAIRS_IN_ORDER = 'eval_rewards/accuracies'

/** A reward below this counts as none. */
export const LOST = 0.03
const EDGE = 8
const WINDOW = 5
const EARLY = 10
const EVERY = 20
const DIGITS = 4
const NOT_A_SETTING = ['version', 'name', 'seed']

type Row = readonly [step: number, data: Readonly<Record<string, number | null>>]

const rounded = (value: number): number => Number(value.toFixed(DIGITS))

/** The fields in which an experiment differs from the defaults, by dotted path; not its name and
 * seed. */
export function settingsOf(experiment: Experiment): Settings {
  const { task, phases } = experiment
  const parsed = parseExperiment({ task: { id: task.id } })
  if (!parsed.ok) throw new RangeError(`there is no task ${task.id}`)
  const defaults = { ...parsed.experiment, phases: phases.map(({ kind }) => newPhase(kind)) }
  const before = new Map(leavesOf(defaults))
  const named = ['task.id', ...phases.map((_, i) => `phases.${i}.kind`)]
  return Object.fromEntries(
    leavesOf(experiment).filter(
      ([path, value]) => named.includes(path) || value !== before.get(path),
    ),
  )
}

function leavesOf(node: unknown, path = ''): [path: string, value: unknown][] {
  if (NOT_A_SETTING.includes(path)) return []
  if (typeof node !== 'object' || node === null) return [[path, node]]
  return Object.entries(node).flatMap(([name, below]) =>
    leavesOf(below, path === '' ? name : `${path}.${name}`),
  )
}

/** The facts of a run folder; undefined where there is no run that came to its end. */
export function finishedFacts(folder: string): RunFacts | undefined {
  const file = join(folder, 'run.json')
  if (!existsSync(file)) return undefined
  const facts: RunFacts = JSON.parse(readFileSync(file, 'utf8'))
  return facts.status === 'finished' ? facts : undefined
}

/** The experiment of a run folder. Throws LabFailure where it cannot be read. */
export function folderExperiment(folder: string): Experiment {
  const parsed = parseExperiment(
    JSON.parse(readFileSync(join(folder, 'experiment.json'), 'utf8')) as unknown,
  )
  if (parsed.ok) return parsed.experiment
  throw new LabFailure(`${folder}/experiment.json: ${parsed.issues[0].message}`)
}

/** Reduces the folder of a finished run. */
export function readPresetRun(folder: string, facts: RunFacts): PresetRun {
  const lines = [...rowsOf(join(folder, 'metrics.jsonl'))]
  return reduceRun(
    folderExperiment(folder),
    facts,
    lines.map(({ step, data }) => [step, data]),
  )
}

/** The figures of a run from the metrics of its steps. */
export function reduceRun(
  experiment: Experiment,
  facts: Pick<RunFacts, 'adapter' | 'steps' | 'warm_start'>,
  rows: readonly Row[],
): PresetRun {
  const from_warm_start = facts.warm_start !== undefined
  const rl = reinforcement(experiment, from_warm_start)
  const before = rl[0].start
  // Steps of reinforcement count from 1; the row of step 0 is the end of the warm start.
  const after = rows.map(([step, data]): Row => [step - before, data]).filter(([step]) => step >= 0)
  const points = (metric: string, from = 1) => pointsOf(after, metric, from)
  const edges = (metric: string) => {
    const values = points(metric).map(([, value]) => value)
    return [mean(values.slice(0, EDGE)), mean(values.slice(-EDGE))].map(rounded)
  }
  const has = (metric: string) => points(metric).length > 0
  const core = `val-core/${experiment.task.id}/acc/mean@${experiment.validation.n}`
  const greedy = points(`val-aux/${experiment.task.id}/acc/greedy`, 0)
  const reward = points(REWARD)
  const lastStep = after.at(-1)?.[0] ?? 0
  const at = namedSteps(lastStep)
  const { isJudged } = rl[0]
  // A reward model's score has no natural zero.
  const lost_at = isJudged || reward.length === 0 ? undefined : lostAt(reward)
  const names = [...new Set(after.flatMap(([, data]) => Object.keys(data)))]
  const parts = partsOfReward(names, (metric) => points(metric, 0), EDGE, rounded)
  const hasParts = Object.keys(parts).length > 0
  return {
    seed: experiment.seed,
    adapter: facts.adapter.description,
    steps: facts.steps,
    from_warm_start,
    greedy: between(greedy, at),
    sampled: between(points(core, 0), at),
    greedy_mean: rounded(mean(greedy.filter(([step]) => step > 0).map(([, value]) => value))),
    ...(reward.length > 0 && {
      reward: at.filter((step) => step > 0).map((step): Point => [step, upTo(reward, step)]),
      ...pair('reward', edges(REWARD)),
    }),
    ...(lost_at !== undefined && { lost_at }),
    ...(isJudged && pair('task_score', edges(TASK_SCORE))),
    ...rewardModel(rows),
    ...(has('actor/reward_kl_penalty') && { kl_last: edges('actor/reward_kl_penalty')[1] }),
    ...(has('critic/vf_explained_var') && pair('explained', edges('critic/vf_explained_var'))),
    ...(has('tool_calls/mean') && pair('tool_calls', edges('tool_calls/mean'))),
    ...(has('train/num_gen_batches') && {
      gen_batches: rounded(mean(points('train/num_gen_batches').map(([, value]) => value))),
    }),
    ...(has(PAIRS_IN_ORDER) && {
      preference_accuracy: rounded(points(PAIRS_IN_ORDER).at(-1)?.[1] ?? Number.NaN),
    }),
    ...(has('actor/pg_clipfrac') && {
      clipfrac_max: rounded(maximum(points('actor/pg_clipfrac').map(([, value]) => value))),
    }),
    ...TO_TEACHER.filter(has).reduce((_, metric) => pair('teacher', edges(metric)), {}),
    ...wholeTask(points(LEVEL), experiment),
    ...(has(ADMITTED) && {
      admitted_min: rounded(Math.min(...points(ADMITTED).map(([, value]) => value))),
      admitted_last: rounded(points(ADMITTED).at(-1)?.[1] ?? Number.NaN),
    }),
    ...(has(BONUS) && {
      entropy_coeff_max: rounded(maximum(points(BONUS).map(([, value]) => value))),
    }),
    ...(hasParts && { parts }),
    phases: rl.map((phase) => phaseEntropies(phase, before, after)),
  }
}

interface RlSpan {
  /** The step before its first one, as the run counts. */
  readonly start: number
  readonly steps: number
  readonly target_layer: number
  /** Whether a reward model gives the reward. */
  readonly isJudged: boolean
}

const HAS_FIGURES = ['rl', 'preference', 'distill']

/** The phases that have figures, at the steps where the run has them. */
function reinforcement({ phases, model }: Experiment, from_warm_start: boolean): RlSpan[] {
  const lastLayer = model.num_hidden_layers
  const begun = phases.findIndex(({ kind }) => kind !== 'sft')
  let start = 0
  const spans: RlSpan[] = []
  for (const phase of phases.slice(from_warm_start ? begun : 0)) {
    const { steps } = phase
    if (HAS_FIGURES.includes(phase.kind) && 'target_layer' in phase)
      spans.push({
        start,
        steps,
        target_layer: phase.target_layer === 'final' ? lastLayer : phase.target_layer,
        isJudged: phase.kind === 'rl' && phase.reward_model.enable,
      })
    start += steps
  }
  if (spans.length === 0)
    throw new LabFailure('a preset of supervised phases alone has no such figures')
  return spans
}

const pointsOf = (rows: readonly Row[], metric: string, from: number): Point[] =>
  rows.flatMap(([step, data]): Point[] => {
    const value = data[metric]
    return step >= from && typeof value === 'number' ? [[step, value]] : []
  })

const namedSteps = (last: number): number[] => {
  const steps = [0, EARLY]
  for (let step = EVERY; step < last; step += EVERY) steps.push(step)
  return [...steps.filter((step) => step < last), last]
}

/** The values at these steps, on the line between the nearest two that were measured. */
function between(measured: readonly Point[], steps: readonly number[]): Point[] {
  return steps.flatMap((step): Point[] => {
    const [x0, y0] = measured.findLast(([x]) => x <= step) ?? []
    const [x1, y1] = measured.find(([x]) => x >= step) ?? []
    if (x0 === undefined || x1 === undefined || y0 === undefined || y1 === undefined) return []
    return [[step, rounded(x1 === x0 ? y0 : y0 + ((y1 - y0) * (step - x0)) / (x1 - x0))]]
  })
}

const upTo = (points: readonly Point[], step: number): number =>
  rounded(mean(points.filter(([x]) => x > step - WINDOW && x <= step).map(([, value]) => value)))

function lostAt(reward: readonly Point[]): number | undefined {
  const sound = reward.findLastIndex(([, value]) => value >= LOST)
  return reward[sound + 1]?.[0]
}

const pair = (name: string, [first, last]: readonly number[]) => ({
  [`${name}_first`]: first,
  [`${name}_last`]: last,
})

function wholeTask(
  levels: readonly Point[],
  { task, data }: Experiment,
): Pick<PresetRun, 'whole_task_at'> {
  const { param } = data.curriculum
  const whole = param === null ? undefined : Number(task[param])
  const [whole_task_at] = levels.find(([, value]) => value === whole) ?? []
  return whole_task_at === undefined ? {} : { whole_task_at }
}

function rewardModel(rows: readonly Row[]): Pick<PresetRun, 'reward_model_accuracy'> {
  const [, accuracy] = pointsOf(rows, 'reward_model/held_out_accuracy', 0).at(-1) ?? []
  return accuracy === undefined ? {} : { reward_model_accuracy: rounded(accuracy) }
}

function phaseEntropies(phase: RlSpan, before: number, rows: readonly Row[]): PhaseEntropies {
  const { target_layer, steps } = phase
  const start = phase.start - before
  const observed = rows.flatMap(([step, data]): LayerEntropies[] => {
    const layers = Object.keys(data).filter((name) => /^layer\/entropy\/\d+$/.test(name))
    if (step <= start || step > start + steps || layers.length === 0) return []
    return [layers.map((_, l) => rounded(data[`layer/entropy/${l}`] ?? Number.NaN))]
  })
  return { target_layer, steps, first: observed[0] ?? [], last: observed.at(-1) ?? [] }
}
