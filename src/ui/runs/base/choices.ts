// Names the numbers by which runs are told and compared, and says which of them rank runs.

import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { heldOutWords } from '../../shown/metrics.ts'
import { columnLabel, isMain, isMetric, MAIN, METRIC_CHOICES, metricOf, toldBy } from './columns.ts'
import { isOneTask } from './ends.ts'

const GREEDY = 'accuracy, greedy'
/** Of answers of another trainer's run nobody knows how they were decoded. */
const FOREIGN = 'mean of answers'

const isForeign = (entry: RunEntry): boolean => {
  const { source, summaries } = entry.header
  return source !== undefined && !(metricOf(entry, MAIN) in summaries && isGreedy(entry))
}

const isGreedy = (entry: RunEntry): boolean => metricOf(entry, MAIN).endsWith('/acc/greedy')

/** The name of a run's main measure. */
function mainName(entry: RunEntry): string {
  const told = toldBy(entry, MAIN)
  if (isForeign(entry)) return told ?? FOREIGN
  return told === undefined ? GREEDY : `${told}, sampled`
}

/** 'held-out happy end, sampled, or accuracy, greedy'; of logs with several sets of problems no
 * more than what all have. */
function heldOutLabel(entries: readonly RunEntry[], own: (entry: RunEntry) => string): string {
  const foreign = new Set(entries.filter(isForeign).map(own))
  const isOne = foreign.size === 1 && entries.every(isForeign)
  const alone = isOne ? heldOutWords(metricOf(entries[0], MAIN), true) : undefined
  if (alone !== undefined) return alone
  const names = entries.map((entry) =>
    isForeign(entry) && foreign.size > 1 ? FOREIGN : own(entry),
  )
  return `held-out ${[...new Set(names)].sort().reverse().join(', or ')}`
}

/** A log that says the entropy of its policy at the temperature of its samples, and no other. */
const saysSampledEntropy = (entry: RunEntry): boolean => {
  const { source, summaries } = entry.header
  const metric = metricOf(entry, 'entropy')
  return source !== undefined && metric === metricOf(entry, 'policy_entropy') && metric in summaries
}

/** The number that a choice means where these runs stand side by side, so that all have the same:
 * beside logs that have no other, samples are compared with samples. */
export function choiceAmong(choice: string, entries: readonly RunEntry[]): string {
  if (choice === 'entropy') return entries.some(saysSampledEntropy) ? 'policy_entropy' : choice
  if (!isMain(choice)) return choice
  const [logs, own] = [entries.filter(isForeign), entries.filter((entry) => !isForeign(entry))]
  const has = (entry: RunEntry, key: string) => metricOf(entry, key) in entry.header.summaries
  const isSampled = own.every(
    (entry) => mainName(entry) === GREEDY && has(entry, 'sampled') === has(entry, 'greedy'),
  )
  return isSampled && own.length > 0 && logs.some((entry) => has(entry, MAIN)) ? 'sampled' : choice
}

/** The column that one of the table stands for, where it has these runs. */
export const columnAmong = (column: string, entries: readonly RunEntry[]): string =>
  isMetric(column)
    ? `metric:${choiceAmong(column.slice(column.indexOf(':') + 1), entries)}`
    : column

/** What a choice is called for these runs. */
export function choiceLabel(choice: string, entries: readonly RunEntry[]): string {
  if (isMain(choice)) return heldOutLabel(entries, mainName)
  if (choice !== 'sampled' || !entries.some(isForeign)) return columnLabel(`metric:${choice}`)
  return heldOutLabel(entries, (entry) =>
    isForeign(entry) ? mainName(entry) : 'accuracy, sampled',
  )
}

interface Choice {
  readonly key: string
  readonly label: string
}

const named = (keys: readonly string[], entries: readonly RunEntry[]): readonly Choice[] =>
  keys.map((key) => ({ key, label: choiceLabel(key, entries) }))

/** What every run has, each number once. */
export function keysAmong(entries: readonly RunEntry[]): readonly string[] {
  const entropy = choiceAmong('entropy', entries)
  return METRIC_CHOICES.map(({ key }) => key).filter(
    (key) => !/entropy$/.test(key) || key === entropy,
  )
}

/** The choices for these runs; the first is that of a table where nothing was chosen. */
export function choicesFor(entries: readonly RunEntry[]): readonly Choice[] {
  const keys = keysAmong(entries)
  if (entries.every((entry) => mainName(entry) === GREEDY)) return named(keys, entries)
  const main = choiceAmong(MAIN, entries)
  // Of answers of other trainers' runs there is one mean.
  const isNamed = (key: string) => key === 'sampled' || key === 'greedy'
  const others = entries.every(isForeign) ? keys.filter((key) => !isNamed(key)) : keys
  return named([...new Set([main, ...others])], entries)
}

/** The choices by which runs can be compared: what one is told by says nothing of others that are
 * told by something else. */
export const comparedChoices = (entries: readonly RunEntry[]): readonly Choice[] =>
  new Set(entries.map((entry) => metricOf(entry, MAIN))).size === 1
    ? choicesFor(entries)
    : named(keysAmong(entries), entries)

/** Where two logs have the same, one reward scored both of their runs: a table of Weights & Biases
 * is of one project, and a setting is one. */
function originOf({ header: { source } }: RunEntry): string {
  if (source?.setting !== undefined) return JSON.stringify([source.setting])
  return source?.kind === 'wandb' ? JSON.stringify({ table: source.file }) : ''
}

/** A number that says how good answers are. */
const isScore = (choice: string): boolean =>
  isMain(choice) || /^(greedy|sampled|score)$|^val-|reward|score/.test(choice)

/** Whether a number measures the same in all of these runs. Two logs can call a sum of rewards and
 * the score of a reward model by one name: what each is, neither says. Answers that are right, and
 * what is no score, are the same everywhere. */
export function isOneMeasure(choice: string, entries: readonly RunEntry[]): boolean {
  const logs = entries.filter(({ header }) => header.source)
  if (logs.length === 0 || !isScore(choice)) return true
  const metrics = new Set(entries.map((entry) => metricOf(entry, choice)))
  if (metrics.size > 1) return false
  const [metric = ''] = metrics
  if (/^val-.*\/acc\//.test(metric)) return true
  const [origin, ...others] = new Set(logs.map(originOf))
  return logs.length === entries.length && others.length === 0 && origin !== ''
}

/** Why the mean of a number over these runs would say nothing: 'different tasks'; '' where it says
 * something. */
export function whyNoMean(choice: string, entries: readonly RunEntry[]): string {
  if (!isOneTask([{ entries }])) return 'different tasks'
  const isTold = isMain(choice) && new Set(entries.map((one) => metricOf(one, MAIN))).size > 1
  return isTold || !isOneMeasure(choice, entries) ? 'different measures' : ''
}
