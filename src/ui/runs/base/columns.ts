// Declares what a column of the table can be: a setting of the run, one of its metrics, or a fact
// about it. Sorting, filters and groups name the same columns.

import { rewardIsShare } from '../../../document/experiment/asked.ts'
import { settingValue } from '../../../document/experiment/form/setting_words.ts'
import { boundsOf } from '../../../document/study/bounds.ts'
import type { Interval } from '../../../document/study/statistics/student.ts'
import { logKindWords } from '../../../jobs/logs/base/log_kinds.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { leavesOf } from '../../../record/run/leaves.ts'
import { runName } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'
import { type Statistic, statisticOf } from '../../../record/run/summary.ts'
import { formatDuration, formatNumber, formatRate, formatShare, NONE } from '../../kit/format.ts'
import { isWithin } from '../../scales/bounds.ts'
import { mainMeasure, toldWords } from '../../shown/measure/main_measure.ts'
import {
  finalEntropy,
  foreignHeldOut,
  greedyAccuracy,
  hasShares,
  heldOutWords,
  LOGGED_ENTROPY,
  REWARD,
  sampledAccuracy,
  TASK_SCORE,
} from '../../shown/metrics.ts'
import { statusWord } from '../../shown/run_words.ts'
import { settingName } from './setting_names.ts'

/** What a column says of one run; undefined where the run has no such thing. */
export type Cell = string | number | boolean | null | undefined

/** Which number of a metric is meant. */
export interface Reading {
  readonly statistic: Statistic
  readonly isSmoothed: boolean
}

/** What every run has under another name, because it carries the task or the layer. */
export const METRIC_CHOICES = [
  { key: 'greedy', label: 'held-out accuracy, greedy' },
  { key: 'sampled', label: 'held-out accuracy, sampled' },
  { key: 'score', label: 'reward or task score, sampled' },
  { key: 'entropy', label: 'final entropy, nats' },
  { key: 'policy_entropy', label: 'policy entropy as sampled (actor/entropy), nats' },
] as const

const FACTS = [
  { key: 'tags', label: 'tags' },
  { key: 'task', label: 'task' },
  { key: 'preset', label: 'preset' },
  { key: 'status', label: 'status' },
  { key: 'took', label: 'time' },
  { key: 'adapter', label: 'GPU adapter' },
  { key: 'source', label: 'source' },
] as const

/** The number that a run is told by, whatever others are told by: '' of a table, and its name in
 * lists. */
export const MAIN = 'main'
export const isMain = (choice: string): boolean => choice === '' || choice === MAIN

/** The name of a run's main measure, where that is not the page's own accuracy: 'happy end', or
 * 'accuracy, gsm8k' of a log. */
export function toldBy(entry: RunEntry, choice: string): string | undefined {
  if (!isMain(choice)) return undefined
  const { source, experiment } = entry.header
  return source ? heldOutWords(metricOf(entry, MAIN)) : toldWords(mainMeasure(experiment))
}

/** The metric of a run that a choice means; any other text is the metric itself. */
export function metricOf({ header }: RunEntry, choice: string): string {
  const { task, validation, model, phases } = header.experiment
  const own = { greedy: greedyAccuracy(task.id), sampled: sampledAccuracy(task.id, validation.n) }
  // A run of another trainer has means of its answers, under a name of its own.
  if (header.source && (isMain(choice) || choice === 'sampled')) {
    const known = own[isMain(choice) ? 'greedy' : 'sampled']
    return known in header.summaries
      ? known
      : (foreignHeldOut(Object.keys(header.summaries))[0] ?? known)
  }
  if (isMain(choice)) return mainMeasure(header.experiment).metric
  if (choice === 'greedy') return own.greedy
  if (choice === 'sampled') return own.sampled
  if (choice === 'entropy')
    return finalEntropy(
      model.num_hidden_layers,
      header.source && new Set(Object.keys(header.summaries)),
    )
  if (choice === 'policy_entropy') return LOGGED_ENTROPY
  if (choice !== 'score') return choice
  // A log says by its metrics alone which phases there were.
  const hasModel = header.source
    ? 'reward_model/grad_norm' in header.summaries
    : phases.some(({ kind }) => kind === 'reward_model')
  return hasModel ? TASK_SCORE : REWARD
}

/** A step measures a reward on few samples: its line is drawn smoothed. */
export const isAveraged = (choice: string): boolean => choice === 'score'

/** The number that runs are compared by, in panels, tables and sentences, as it was measured;
 * undefined where the run has none. */
export const comparedNumber = (
  entry: RunEntry,
  choice: string,
  statistic: Statistic = 'last',
): number | undefined =>
  statisticOf(entry.header.summaries[metricOf(entry, choice)], statistic, false)

/** Whether what a run calls its reward can be no more than 1; of a log its accuracies say it. */
const hasShareReward = ({ source, summaries, experiment }: RunEntry['header']): boolean =>
  source ? hasShares(Object.keys(summaries)) : rewardIsShare(experiment.reward)

/** Of the scores, a task's own is a share, and a reward that cannot exceed 1: a sum of several
 * parts, or a reward model's, can be anything. */
function isTaskScore({ header }: RunEntry, metric: string): boolean {
  const { phases } = header.experiment
  const isModels = metric === REWARD && phases.some(({ kind }) => kind === 'reward_model')
  return (metric === REWARD || metric === TASK_SCORE) && hasShareReward(header) && !isModels
}

const ANY: Interval = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

/** Whether a run measured a value outside of `bounds`. */
function isBeyond({ header }: RunEntry, metric: string, { low, high }: Interval): boolean {
  const measured = header.summaries[metric]
  return (
    measured !== undefined &&
    !isWithin({ low: measured.lowest, high: measured.highest }, [low, high])
  )
}

/** Between which values a metric lies, whatever these runs measure of it; `nameOf`, what a run
 * calls it. One that was measured beyond its bounds has none: what was measured is not cut. */
export function boundsOfRuns(
  entries: readonly RunEntry[],
  nameOf: (entry: RunEntry) => string,
): Interval {
  const isShare = entries.every((entry) => isTaskScore(entry, nameOf(entry)))
  const own = [...new Set(entries.map(nameOf))].map(boundsOf)
  const isOne = own.every(({ low, high }) => low === own[0].low && high === own[0].high)
  const bounds = isShare ? { low: 0, high: 1 } : isOne ? own[0] : ANY
  return entries.some((entry) => isBeyond(entry, nameOf(entry), bounds)) ? ANY : bounds
}

/** The runs that have a number of this choice; undefined for none. */
function having(choice: string, entries: readonly RunEntry[]): readonly RunEntry[] | undefined {
  const own = entries.filter((entry) => metricOf(entry, choice) in entry.header.summaries)
  return own.length > 0 ? own : undefined
}

const MAYBE_SHARES: readonly string[] = ['', MAIN, 'greedy', 'sampled', 'score']

/** Whether a number of this choice is a share of 1 in all of these runs. A reward that can exceed 1
 * is none, and no measure of another trainer that was ever beyond 0 and 1. */
export const isShare = (choice: string, entries: readonly RunEntry[]): boolean =>
  MAYBE_SHARES.includes(choice) &&
  // Of runs of which none has it, each says what it would be.
  (having(choice, entries) ?? entries).every((entry) => {
    const metric = metricOf(entry, choice)
    const { experiment, source } = entry.header
    const isSum =
      choice === 'score'
        ? !isTaskScore(entry, metric)
        : isMain(choice) && mainMeasure(experiment).isReward && !rewardIsShare(experiment.reward)
    return (
      (source ? hasShareReward(entry.header) : !isSum) &&
      !isBeyond(entry, metric, { low: 0, high: 1 })
    )
  })

/** The kind of a column and its name there: 'setting:actor.optim.lr' is the setting
 * 'actor.optim.lr'. */
function parts(column: string): readonly [kind: string, name: string] {
  const at = column.indexOf(':')
  return [column.slice(0, at), column.slice(at + 1)]
}

export const isMetric = (column: string): boolean => parts(column)[0] === 'metric'

/** Seconds from start to end. */
const tookOf = (header: RunEntry['header']): number | undefined => {
  const { started_at, ended_at, study, source } = header
  if (source) return undefined
  if (study) return study.seconds
  return ended_at === undefined || ended_at < started_at
    ? undefined
    : (ended_at - started_at) / 1000
}

/** Where a run comes from, in words. */
export function sourceOf({ source, study }: RunEntry['header']): string {
  if (study) return `study “${study.name}”`
  return source ? logKindWords(source.kind) : 'trained here'
}

function factOf(entry: RunEntry, name: string): Cell {
  const { header, labels } = entry
  if (name === 'tags') return labels.tags.join(', ')
  if (name === 'task') return header.source ? undefined : header.experiment.task.id
  if (name === 'preset') return header.source ? undefined : runName(entry).from
  if (name === 'status') return statusWord(header)
  if (name === 'took') return tookOf(header)
  if (name === 'source') return sourceOf(header)
  return name === 'adapter' ? header.adapter : undefined
}

/** What a column says of a run. */
export function cellOf(entry: RunEntry, column: string, reading: Reading): Cell {
  const [kind, name] = parts(column)
  // Of an imported run no other setting is known: its document only holds the defaults.
  if (kind === 'setting') {
    if (name === 'seed') return seedOf(entry.header)
    return entry.header.source ? undefined : leavesOf(entry.header.document).get(name)
  }
  if (kind === 'fact') return factOf(entry, name)
  const summary = entry.header.summaries[metricOf(entry, name)]
  return statisticOf(summary, reading.statistic, reading.isSmoothed)
}

/** A cell of a run as people read it; shares as shares, times as times. `inShares`: whether
 * the numbers of its column are. */
export function cellText(
  cell: Cell,
  column: string,
  entry: RunEntry,
  inShares = isShare(parts(column)[1], [entry]),
): string {
  const [kind, name] = parts(column)
  if (cell === undefined || cell === '') return NONE
  // A setting is what somebody chose; a metric was measured.
  if (kind === 'setting') return settingValue(entry.header.document, name, cell)
  if (column === 'fact:task') return settingValue(entry.header.document, 'task.id', cell)
  if (cell === null) return 'none'
  if (typeof cell === 'boolean') return cell ? 'on' : 'off'
  if (typeof cell === 'string') return cell
  if (name === 'took' && kind === 'fact') return formatDuration(cell)
  if (name.endsWith('/lr')) return formatRate(cell)
  return inShares ? formatShare(cell) : formatNumber(cell)
}

/** The head of a column; a setting by the name that the form gives it, and by its path where two
 * of the table are called alike. */
export function columnLabel(column: string, among: readonly string[] = []): string {
  const [kind, name] = parts(column)
  if (kind === 'fact') return FACTS.find(({ key }) => key === name)?.label ?? name
  if (kind === 'metric') return METRIC_CHOICES.find(({ key }) => key === name)?.label ?? name
  const own = settingName(name)
  const alike = among.filter(
    (other) => other.startsWith('setting:') && settingName(parts(other)[1]) === own,
  ).length
  return alike > 1 || /(^|\.)\d+$/.test(name) ? name : own
}

/** All metrics that some run has, by name. */
export function metricNames(entries: readonly RunEntry[]): string[] {
  return [...new Set(entries.flatMap(({ header }) => Object.keys(header.summaries)))].sort()
}

export interface ColumnGroup {
  readonly name: string
  readonly columns: readonly string[]
}

/** Every column that these runs can fill, those first that tell them apart. */
export function columnGroups(entries: readonly RunEntry[]): ColumnGroup[] {
  const values = new Map<string, Set<Cell>>()
  for (const { header } of entries)
    if (!header.source)
      for (const [path, value] of leavesOf(header.document)) {
        const known = values.get(path)
        if (known) known.add(value)
        else values.set(path, new Set([value]))
      }
  const settings = [...values].map(([path, own]) => ({ column: `setting:${path}`, own }))
  const isSame = ({ own }: (typeof settings)[number]) => own.size < 2
  const columns = (some: typeof settings) => some.map(({ column }) => column)
  return [
    { name: 'Facts', columns: FACTS.map(({ key }) => `fact:${key}`) },
    { name: 'Settings that differ', columns: columns(settings.filter((one) => !isSame(one))) },
    {
      name: 'Metrics',
      columns: [...METRIC_CHOICES.map(({ key }) => key), ...metricNames(entries)].map(
        (name) => `metric:${name}`,
      ),
    },
    { name: 'Other settings', columns: columns(settings.filter(isSame)) },
  ].filter((group) => group.columns.length > 0)
}
