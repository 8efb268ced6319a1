// The settings in which the compared runs differ. Of an imported run no setting is known, and the
// table says so.
import { useMemo } from 'react'
import { differences } from '../../../record/compare/compare.ts'
import { NONE } from '../../kit/format.ts'
import type { Compared } from '../base/compared.ts'
import { MarkedName } from '../base/RunMark.tsx'

/** Long texts, such as pinned kernels, are of interest only in that they differ. */
const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

const documentOf = ({ entries: [{ header }] }: Compared) =>
  header.source ? undefined : header.document

/** A row for each difference; undefined where a run was imported. */
function useRows(groups: readonly Compared[], hasSeeds: boolean) {
  return useMemo(() => {
    const documents = groups.map(documentOf)
    const known = documents.flatMap((document) => document ?? [])
    const places = documents.map((document) => (document ? known.indexOf(document) : -1))
    const found = known.length < 2 ? [] : differences(known)
    return found
      .filter(({ path }) => !hasSeeds || path !== 'seed')
      .map(({ path, values }) => ({
        path,
        cells: places.map((place) => (place < 0 ? undefined : { value: values[place] })),
      }))
  }, [groups, hasSeeds])
}

/** Where no row can be shown. */
function Nothing({
  known,
  all,
  hasSeeds,
}: Record<'known' | 'all', number> & { readonly hasSeeds: boolean }) {
  const imported = all - known
  const same =
    known < 2
      ? known === all && hasSeeds
        ? 'They are runs of one setting, and differ in their seeds alone.'
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
  if (rows.length === 0) return <Nothing known={known} all={groups.length} hasSeeds={hasSeeds} />
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
          {rows.map(({ path, cells }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code>
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
