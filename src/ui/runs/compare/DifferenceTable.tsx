// Draws the settings in which the compared runs differ. Of an imported run no setting is known, and
// the table says so.
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { shortHash } from '../../../document/content/content.ts'
import { differences } from '../../../record/compare/compare.ts'
import { NONE } from '../../kit/format.ts'
import type { Compared } from '../base/compared.ts'
import { MarkedName } from '../base/RunMark.tsx'
import { type DifferenceRow, differenceRows, documentOf } from './difference_rows.ts'

/** Hashes, and long texts such as pinned kernels, are of interest only in that they differ. */
function short(text: string): string {
  const said = text.replaceAll(/sha256-[0-9a-f]{64}/g, (hash) => shortHash(hash))
  return said.length > 60 ? `${said.slice(0, 60)}…` : said
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

function Rows(props: {
  readonly rows: readonly DifferenceRow[]
  readonly groups: readonly Compared[]
}) {
  const { rows, groups } = props
  return rows.map(({ path, name, cells }) => (
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
  ))
}

/** Rows before the rest is folded: the charts are near below. */
const FIRST_ROWS = 8

export function DifferenceTable({ groups }: { readonly groups: readonly Compared[] }) {
  const [isOpen, setOpen] = useState(false)
  const hasSeeds = groups.some(({ entries }) => entries.length > 1)
  const rows = useMemo(() => differenceRows(groups, hasSeeds), [groups, hasSeeds])
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
  // A fold for one row would take its place.
  const more = rows.length > FIRST_ROWS + 1 ? rows.length - FIRST_ROWS : 0
  const Arrow = isOpen ? ChevronDown : ChevronRight
  return (
    <>
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
            <Rows rows={more > 0 && !isOpen ? rows.slice(0, FIRST_ROWS) : rows} groups={groups} />
          </tbody>
        </table>
      </div>
      {more > 0 ? (
        <button
          type="button"
          className="plain differences-more"
          data-testid="differences-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Arrow className="icon" aria-hidden="true" />
          {isOpen ? 'Fewer settings' : `${more} more settings`}
        </button>
      ) : null}
    </>
  )
}
