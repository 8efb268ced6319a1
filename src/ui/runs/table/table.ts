// Rows of the table of runs: searched, sorted, with the number that was asked for.
import type { RunEntry } from '../../../lab/runs/library/library.ts'
import { runName } from '../../../lab/runs/record/names.ts'
import { type Statistic, statisticOf } from '../../../lab/runs/record/summary.ts'
import {
  foreignHeldOut,
  greedyAccuracy,
  layerEntropy,
  REWARD,
  sampledAccuracy,
  TASK_SCORE,
} from '../../learning/metrics.ts'
import { statusWord } from '../words.ts'

const SORTS = ['name', 'status', 'started', 'steps', 'metric'] as const
export type Sort = (typeof SORTS)[number]

export interface TableView {
  readonly search: string
  /** '' = held-out accuracy. */
  readonly metric: string
  readonly statistic: Statistic
  readonly is_smoothed: boolean
  readonly with_hidden: boolean
  readonly sort: Sort
  readonly is_descending: boolean
}

export interface Row {
  readonly entry: RunEntry
  readonly name: string
  /** What an automatic name is measured against. */
  readonly from: string
  readonly value: number | undefined
}

/** What every run has under another name, because it carries the task or the layer. */
export const METRIC_CHOICES = [
  { key: 'greedy', label: 'held-out accuracy, greedy' },
  { key: 'sampled', label: 'held-out accuracy, sampled' },
  { key: 'score', label: 'reward or task score, sampled' },
  { key: 'entropy', label: 'final entropy' },
] as const

/** The metric of a run that a choice means; any other text is the metric itself. */
export function metricOf({ header }: RunEntry, choice: string): string {
  const { task, validation, model, phases } = header.experiment
  const own = { greedy: greedyAccuracy(task.id), sampled: sampledAccuracy(task.id, validation.n) }
  const is_held_out = choice === '' || choice === 'greedy' || choice === 'sampled'
  // A run of another trainer has one of the two at most, under a name of its own.
  if (header.source && is_held_out) {
    const known = own[choice === 'sampled' ? 'sampled' : 'greedy']
    return known in header.summaries
      ? known
      : (foreignHeldOut(Object.keys(header.summaries)) ?? known)
  }
  if (choice === 'greedy' || choice === '') return own.greedy
  if (choice === 'sampled') return own.sampled
  if (choice === 'entropy') return layerEntropy(model.num_hidden_layers)
  if (choice !== 'score') return choice
  return phases.some(({ kind }) => kind === 'reward_model') ? TASK_SCORE : REWARD
}

/** Whether a number of this choice is a share of 1. */
export const isShare = (choice: string): boolean =>
  choice === '' || choice === 'greedy' || choice === 'sampled' || choice === 'score'

/** All metrics that some run has, by name. */
export function metricNames(entries: readonly RunEntry[]): string[] {
  return [...new Set(entries.flatMap(({ header }) => Object.keys(header.summaries)))].sort()
}

const words = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean)

/** Whether every word of the search is in a run's name, notes, task, preset, adapter or status. */
function isFound({ entry, name, from }: Row, search: readonly string[]): boolean {
  const { header, labels } = entry
  const { task, seed } = header.experiment
  const text = [
    name,
    from,
    labels.notes,
    task.id,
    `seed ${seed}`,
    header.experiment.name,
    header.adapter,
    statusWord(header),
  ]
    .join(' ')
    .toLowerCase()
  return search.every((word) => text.includes(word))
}

const compareText = new Intl.Collator('en', { numeric: true }).compare

/** Absent numbers come last, whichever way the table is sorted. */
function order(a: Row, b: Row, { sort, is_descending }: TableView): number {
  const sign = is_descending ? -1 : 1
  if (sort === 'name') return sign * compareText(a.name, b.name)
  if (sort === 'status')
    return sign * compareText(statusWord(a.entry.header), statusWord(b.entry.header))
  const number = ({ entry: { header }, value }: Row) =>
    sort === 'started' ? header.started_at : sort === 'steps' ? header.step : value
  const [x, y] = [number(a), number(b)]
  const [has_x, has_y] = [x, y].map((value) => value !== undefined && !Number.isNaN(value))
  if (!has_x || !has_y) return Number(has_y) - Number(has_x)
  return sign * (Number(x) - Number(y))
}

const rank = ({ entry: { labels } }: Row) => (labels.pinned ? 0 : 1)

/** The rows of the table: pinned ones first, then as sorted; ties by the start, newest first. */
export function tableRows(entries: readonly RunEntry[], view: TableView): Row[] {
  const search = words(view.search)
  return entries
    .filter(({ labels }) => view.with_hidden || !labels.hidden)
    .map((entry): Row => {
      const { name, from } = runName(entry)
      const summary = entry.header.summaries[metricOf(entry, view.metric)]
      const value = statisticOf(summary, view.statistic, view.is_smoothed)
      return { entry, name, from, value }
    })
    .filter((row) => isFound(row, search))
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        order(a, b, view) ||
        b.entry.header.started_at - a.entry.header.started_at,
    )
}
