// Lists the settings in which the compared runs differ: what a person would ask for first, and
// nothing that the other settings leave without effect.
import {
  isIdle,
  placeWords,
  settingLabel,
  settingValue,
} from '../../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { changesWords, fieldChanges } from '../../../document/experiment/steered/field_changes.ts'
import { type Difference, differences, phaseText } from '../../../record/compare/compare.ts'
import { leavesOf } from '../../../record/run/leaves.ts'
import type { Compared } from '../base/compared.ts'
import { doneByHandName, withSteeredFields } from '../base/steered_fields.ts'

export interface DifferenceRow {
  readonly path: string
  readonly name: string
  /** One for each line; undefined for imported runs. */
  readonly cells: readonly ({ readonly value: string | undefined } | undefined)[]
}

/** Of an imported run no setting is known. */
export const documentOf = ({ entries: [{ header }] }: Compared) =>
  header.source ? undefined : header.document

/** What a person calls the row: a setting by its name in the form. */
function rowName(experiments: readonly Experiment[], path: string): string {
  const done = doneByHandName(path)
  if (done !== undefined) return done
  const [, phase] = /^phases\.(\d+)$/.exec(path) ?? []
  if (phase !== undefined) return `phase ${Number(phase) + 1}`
  const has = experiments.find((one) => leavesOf(one).has(path)) ?? experiments[0]
  if (path === 'model.source_name') return 'model'
  const label = settingLabel(has, path)
  const [, list, at] = /^(reward\.parts|tools)\.(\d+)/.exec(path) ?? []
  if (list === 'reward.parts') return `reward part ${Number(at) + 1}, ${label}`
  if (list === 'tools') return `tool ${Number(at) + 1}, ${label}`
  return `${placeWords(path)}${label}`
}

/** Rows of which no two have one name: settings that a person calls alike have their paths too.
 * Several things may be done after one step. */
function withPaths<T extends { readonly path: string; readonly name: string }>(rows: readonly T[]) {
  const isAgain = ({ path, name }: T) =>
    doneByHandName(path) === undefined && rows.filter((other) => other.name === name).length > 1
  return rows.map((row) => (isAgain(row) ? { ...row, name: `${row.name} (${row.path})` } : row))
}

/** What a person would ask for first, in this order; the rest follows as the document has it. */
const ORDER = [
  /^phases\.\d+(\.(adv_estimator|target_layer|steps))?$/,
  /^model\.(source|source_name|num_hidden_layers|hidden_size)$/,
  /^task\./,
  /^(reward|tools)\b/,
  /\boptim\.lr$/,
  /\b(train_batch_size|ppo_mini_batch_size|rollout\.n)$/,
  /\btemperature$/,
  /\bkl_|_kl\b|_kl_/,
  /^seed$/,
  /^steering\./,
]
const rankOf = ({ path }: Difference): number => {
  const at = ORDER.findIndex((pattern) => pattern.test(path))
  return at < 0 ? ORDER.length : at
}
/** The phase of a setting, the step of what was done by hand. */
const placeOf = ({ path }: Difference): number =>
  Number(/^(?:phases|steering)\.(\d+)/.exec(path)?.[1] ?? 0)

const byRank = (a: Difference, b: Difference): number =>
  rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b)

/** Phases that are not of one kind in all experiments, or not in all of them: their settings have
 * nothing to be compared with. */
function otherPhases(known: readonly Experiment[]): readonly number[] {
  const most = Math.max(...known.map(({ phases }) => phases.length))
  return Array.from({ length: most }, (_, i) => i).filter(
    (i) => new Set(known.map(({ phases }) => phases.at(i)?.kind)).size > 1,
  )
}

/** No experiment that has the setting does anything with it. The form leaves out what is said of a
 * file of rows for another reason. */
function isWithoutEffect(path: string, known: readonly Experiment[]): boolean {
  const having = known.filter((one) => leavesOf(one).has(path))
  return having.length > 0 && !path.startsWith('task.') && having.every((one) => isIdle(one, path))
}

function shownDifferences(known: readonly Experiment[]): readonly Difference[] {
  const found = differences(known)
  const others = otherPhases(known)
  const whole = others.map((index) => ({
    path: `phases.${index}`,
    values: known.map((one) => phaseText(one, index)),
  }))
  const isSaid = ({ path }: Difference) =>
    others.includes(Number(/^phases\.(\d+)/.exec(path)?.[1])) ||
    // The model is called by its name.
    (path === 'model.source' && found.some((other) => other.path === 'model.source_name'))
  const own = found.filter((one) => !isSaid(one))
  const used = own.filter(({ path }) => !isWithoutEffect(path, known))
  const shown = [...whole, ...used]
  return (shown.length > 0 ? shown : own).toSorted(byRank)
}

const valueText = (own: Experiment, path: string, value: unknown): string =>
  path === 'model.source_name' && own.model.source === null
    ? 'a new model'
    : settingValue(own, path, value)

/** A row for each difference; without a cell where a run was imported. */
export function differenceRows(
  groups: readonly Compared[],
  hasSeeds: boolean,
): readonly DifferenceRow[] {
  const documents = groups.map(documentOf)
  const known = documents.flatMap((document) => document ?? [])
  const runs = groups.map((group, i) => ({
    document: documents[i],
    changes: fieldChanges(group.entries[0].header),
  }))
  const places = documents.map((document) => (document ? known.indexOf(document) : -1))
  const found = known.length < 2 ? [] : withSteeredFields(shownDifferences(known), runs)
  const rows = found
    .filter(({ path }) => !hasSeeds || path !== 'seed')
    .toSorted(byRank)
    .map(({ path, values }) => ({
      path,
      name: rowName(known, path),
      cells: places.map((place, i) => {
        // What a person changed in the run is said with what it began with.
        const changed = runs[i].changes.get(path)
        const own = documents[i]
        if (!own) return undefined
        const said = (value: unknown) => valueText(own, path, value)
        const leaf = leavesOf(own).get(path)
        if (changed) return { value: changesWords(changed, said) }
        return { value: leaf === undefined ? values[place] : said(leaf) }
      }),
    }))
  return withPaths(rows)
}
