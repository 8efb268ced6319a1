// Draws the settings in which the compared runs differ. Of an imported run no setting is known, and
// the table says so.
import { useMemo } from 'react'
import { shortHash } from '../../../document/content/content.ts'
import {
  placeWords,
  settingLabel,
  settingValue,
} from '../../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { changesWords, fieldChanges } from '../../../document/experiment/steered/field_changes.ts'
import { differences } from '../../../record/compare/compare.ts'
import { leavesOf } from '../../../record/run/leaves.ts'
import { NONE } from '../../kit/format.ts'
import type { Compared } from '../base/compared.ts'
import { MarkedName } from '../base/RunMark.tsx'

/** Hashes, and long texts such as pinned kernels, are of interest only in that they differ. */
function short(text: string): string {
  const said = text.replaceAll(/sha256-[0-9a-f]{64}/g, (hash) => shortHash(hash))
  return said.length > 60 ? `${said.slice(0, 60)}…` : said
}

const documentOf = ({ entries: [{ header }] }: Compared) =>
  header.source ? undefined : header.document

/** A change by hand that is said beside the value that its field began with needs no row. */
function isSaidWithField(
  path: string,
  documents: readonly (Experiment | undefined)[],
  changes: readonly ReadonlyMap<string, unknown>[],
): boolean {
  const [, index] = /^steering\.(\d+)$/.exec(path) ?? []
  if (index === undefined) return false
  return documents.every((document, i) => {
    const entry = document?.steering[Number(index)]
    return !entry || (entry.kind === 'set' && changes[i].has(entry.path))
  })
}

/** What a person calls the row: a setting by its name in the form. */
function rowName(experiments: readonly Experiment[], path: string): string {
  const [, done] = /^steering\.(\d+)$/.exec(path) ?? []
  if (done !== undefined) return `done by hand, ${Number(done) + 1}`
  const [, phase] = /^phases\.(\d+)$/.exec(path) ?? []
  if (phase !== undefined) return `phase ${Number(phase) + 1}`
  const has = experiments.find((one) => leavesOf(one).has(path)) ?? experiments[0]
  const label = settingLabel(has, path)
  const [, list, at] = /^(reward\.parts|tools)\.(\d+)/.exec(path) ?? []
  if (list === 'reward.parts') return `reward part ${Number(at) + 1}, ${label}`
  if (list === 'tools') return `tool ${Number(at) + 1}, ${label}`
  return `${placeWords(path)}${label}`
}

/** Rows of which no two have one name: settings that a person calls alike have their paths too. */
function withPaths<T extends { readonly path: string; readonly name: string }>(rows: readonly T[]) {
  const isAgain = ({ name }: T) => rows.filter((other) => other.name === name).length > 1
  return rows.map((row) => (isAgain(row) ? { ...row, name: `${row.name} (${row.path})` } : row))
}

/** A row for each difference; undefined where a run was imported. */
function useRows(groups: readonly Compared[], hasSeeds: boolean) {
  return useMemo(() => {
    const documents = groups.map(documentOf)
    const known = documents.flatMap((document) => document ?? [])
    const changes = groups.map(({ entries: [{ header }] }) => fieldChanges(header))
    const places = documents.map((document) => (document ? known.indexOf(document) : -1))
    const found = known.length < 2 ? [] : differences(known)
    const rows = found
      .filter(({ path }) => !hasSeeds || path !== 'seed')
      .filter(({ path }) => !isSaidWithField(path, documents, changes))
      .map(({ path, values }) => ({
        path,
        name: rowName(known, path),
        cells: places.map((place, i) => {
          // What a person changed in the run is said with what it began with.
          const changed = changes[i].get(path)
          const own = documents[i]
          if (!own) return undefined
          const said = (value: unknown) => settingValue(own, path, value)
          const leaf = leavesOf(own).get(path)
          if (changed) return { value: changesWords(changed, said) }
          return { value: leaf === undefined ? values[place] : said(leaf) }
        }),
      }))
    return withPaths(rows)
  }, [groups, hasSeeds])
}

/** Where no row can be shown. */
function Nothing({
  known,
  all,
  hasSeeds,
  isOneSetting,
}: Record<'known' | 'all', number> & Record<'hasSeeds' | 'isOneSetting', boolean>) {
  const imported = all - known
  const same =
    known < 2
      ? known === all && hasSeeds
        ? isOneSetting
          ? 'They are runs of one setting, and differ in their seeds alone.'
          : 'They are one line, and their settings differ: group by “all but the seed” to see how.'
        : ''
      : `${imported > 0 ? 'The experiments of the others' : 'Their experiments'} are the same${hasSeeds ? ', but for their seeds' : ', seed included'}. `
  const unknown =
    imported === 0
      ? ''
      : `${imported === all ? 'Their settings are' : `The settings of ${imported === 1 ? 'the imported run' : `the ${imported} imported runs`} are`} not in the log.`
  return (
    <p className="soft" data-testid="no-differences">
      {`${same}${unknown}`.trim()}
    </p>
  )
}

/** Whether the runs of a line have one setting. */
const hasOneSetting = ({ entries }: Compared): boolean =>
  differences(entries.map(({ header }) => header.document)).every(({ path }) => path === 'seed')

interface CellProps {
  readonly cell: { readonly value: string | undefined } | undefined
  readonly first: string | undefined
}

function Cell({ cell, first }: CellProps) {
  if (!cell) return <td className="soft">not in the log</td>
  const { value } = cell
  return (
    <td className={value === first ? '' : 'differs'} title={value}>
      {value === undefined ? NONE : short(value) || '(empty)'}
    </td>
  )
}

export function DifferenceTable({ groups }: { readonly groups: readonly Compared[] }) {
  const hasSeeds = groups.some(({ entries }) => entries.length > 1)
  const rows = useRows(groups, hasSeeds)
  const known = groups.filter(documentOf).length
  if (rows.length === 0)
    return (
      <Nothing
        known={known}
        all={groups.length}
        hasSeeds={hasSeeds}
        isOneSetting={groups.every(hasOneSetting)}
      />
    )
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Differences of the experiments">
      <table className="compare-table" data-testid="differences">
        <thead>
          <tr>
            <th scope="col">setting</th>
            {groups.map((group) => (
              <th key={group.entries[0].id} scope="col">
                <MarkedName name={group.label} color={group.entries[0].labels.color} />
                {group.entries[0].labels.baseline ? (
                  <small className="soft"> baseline</small>
                ) : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, name, cells }) => (
            <tr key={path}>
              <th scope="row" title={path}>
                {name}
              </th>
              {cells.map((cell, i) => (
                <Cell
                  key={groups[i].entries[0].id}
                  cell={cell}
                  first={cells.find((one) => one !== undefined)?.value}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
