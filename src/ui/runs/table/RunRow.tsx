// Draws one run of the table, and below it, when asked, what a person says about it.
import { Eye, EyeOff, Flag, Pencil, Pin, Trash2 } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { logKindWords } from '../../../jobs/logs/base/log_kinds.ts'
import { canDelete, labelRun, setBaseline } from '../../../page/runs/library/library.ts'
import { runName } from '../../../record/run/names.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import { CutName } from '../../kit/CutName.tsx'
import { formatCount, formatNumber, NONE } from '../../kit/format.ts'
import { openArm } from '../../open/opened_arm.ts'
import { removeRuns, showRun } from '../../open/opened_run.ts'
import { unsaidWords } from '../../shown/names/distinct_names.ts'
import { endText, numberText, plannedOf, shortWhen, statusWord } from '../../shown/run_words.ts'
import { cellText, columnLabel } from '../base/columns.ts'
import { RunMark } from '../base/RunMark.tsx'
import { tick } from '../base/selection.ts'
import { begunAt, type FIXED, fixedColumns, type Row } from '../base/table.ts'
import { RunDetails } from './RunDetails.tsx'
import { Spark } from './Spark.tsx'

function Tool(props: {
  readonly id: string
  readonly label: string
  readonly pressed?: boolean
  readonly enabled?: boolean
  readonly children: ReactNode
  onClick(): void
}) {
  const { id, label, pressed, enabled = true, children, onClick } = props
  return (
    <button
      type="button"
      className="plain run-tool"
      data-testid={id}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      disabled={!enabled}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

interface RunRowProps {
  readonly row: Row
  /** An index of RUN_COLORS: another one than its own beside a ticked run of the same. Undefined
   * while no chart draws it: there are more runs than colours. */
  readonly color: number | undefined
  readonly choice: string
  /** What its number is of, where that of another run of the table is of something else. */
  readonly told: string | undefined
  /** Beside the fixed ones; the row has a cell for each. */
  readonly columns: readonly string[]
  /** Those whose numbers are all shares, a line each. */
  readonly shares: string
  /** Fixed ones that are left out. */
  readonly without: readonly string[]
  readonly isTicked: boolean
  /** Its numbers are on the page. */
  readonly isShown: boolean
  readonly isLiving: boolean
  readonly isEdited: boolean
  /** A time of today, the same for all rows: none keeps yesterday's way of writing. */
  readonly today: number
  onEdit(id: string | undefined): void
}

/** The tick, the name, the course, the number, and what can be done. */
const OTHER_COLUMNS = 5

/** What else is special about a run. */
function whatWords({ entry, name, from }: Row): string {
  const { source, study } = entry.header
  if (source) return `imported from ${logKindWords(source.kind)}`
  if (study) return `study “${study.name}”`
  const { differs, isAutomatic, words } = runName(entry)
  const own = isAutomatic ? '' : unsaidWords(differs, name)
  const said = `, ${name}, ${own}, `
  const rest = words.filter((word) => !said.includes(`, ${word}, `))
  // Somebody who trained a preset looks for it by its title.
  if (isAutomatic && words.length === 0) return from
  const isSaid = from === name || name.includes(`“${from}”`)
  const unsaid = isSaid ? '' : unsaidWords(from, `${name}, ${differs}`)
  // A title without its beginning is none.
  const preset = from.startsWith(unsaid) ? unsaid : from
  return [own, ...rest, preset && `from “${preset}”`].filter(Boolean).join(', ')
}

function openTitle({ header }: Row['entry'], isLiving: boolean): string {
  if (header.study) return 'Show its arm in its study'
  return isLiving ? 'Show the current run' : 'Show this run on the whole page, read-only'
}

function RunName({ row, color, isShown, isLiving }: RunRowProps) {
  const { entry, name } = row
  const { id, labels } = entry
  const { study } = entry.header
  const what = whatWords(row)
  return (
    <th scope="row">
      <button
        type="button"
        className="plain run-open"
        data-testid="open-run"
        aria-current={isShown ? 'true' : undefined}
        title={`${name}: ${openTitle(entry, isLiving)}`}
        onClick={() => void (study ? openArm(study) : showRun(id))}
      >
        {color === undefined ? null : <RunMark color={color} />}
        <CutName name={name} />
      </button>
      <span className="run-under">
        <span className="soft run-from" title={what}>
          {isLiving ? <b>current run </b> : null}
          {labels.baseline ? <b>baseline </b> : null}
          {what}
        </span>
        {labels.tags.length > 0 ? (
          <span className="run-tags">
            {labels.tags.map((tag) => (
              <span key={tag} className="run-tag">
                {tag}
              </span>
            ))}
          </span>
        ) : null}
      </span>
    </th>
  )
}

function RunTools({ row, isEdited, onEdit }: RunRowProps) {
  const { entry, name } = row
  const { id, labels } = entry
  const { pinned, hidden, baseline } = labels
  // Its study keeps it, and deletes it.
  if (entry.header.study) return <td className="run-tools" />
  return (
    <td className="run-tools">
      <Tool
        id="pin"
        label={pinned ? `Unpin “${name}”` : `Pin “${name}” to the top`}
        pressed={pinned}
        onClick={() => labelRun(id, { pinned: !pinned })}
      >
        <Pin className="icon" aria-hidden="true" />
      </Tool>
      <Tool
        id="baseline"
        label={`Make “${name}” the baseline of differences`}
        pressed={baseline}
        onClick={() => setBaseline(baseline ? undefined : id)}
      >
        <Flag className="icon" aria-hidden="true" />
      </Tool>
      <Tool
        id="hide"
        label={hidden ? `Show “${name}” in the table` : `Hide “${name}” from the table`}
        pressed={hidden}
        onClick={() => {
          labelRun(id, { hidden: !hidden })
          if (!hidden) tick(id, false)
        }}
      >
        {hidden ? (
          <EyeOff className="icon" aria-hidden="true" />
        ) : (
          <Eye className="icon" aria-hidden="true" />
        )}
      </Tool>
      <Tool
        id="edit-run"
        label={`Name, colour and notes of ${name}`}
        pressed={isEdited}
        onClick={() => onEdit(isEdited ? undefined : id)}
      >
        <Pencil className="icon" aria-hidden="true" />
      </Tool>
      <Tool
        id="delete-run"
        label={
          canDelete(entry)
            ? `Delete ${name}`
            : `${name} is in progress: reset ends it, pause does not`
        }
        enabled={canDelete(entry)}
        onClick={() => void removeRuns([id])}
      >
        <Trash2 className="icon" aria-hidden="true" />
      </Tool>
    </td>
  )
}

/** A log may count in samples, or in milliseconds: then one run would make the table too wide. */
const LONG_STEP = 1e7
const stepText = (step: number): string =>
  step < LONG_STEP ? formatCount(step) : formatNumber(step)

function FixedCell(props: {
  readonly column: (typeof FIXED)[number]['key']
  readonly header: RunHeader
  readonly today: number
}) {
  const { column, header, today } = props
  const planned = plannedOf(header)
  if (column === 'steps')
    return (
      <td
        className="number run-more run-steps"
        title={header.step < LONG_STEP ? undefined : formatCount(header.step)}
      >
        {stepText(header.step)}
        {header.source?.is_cut && planned <= header.step ? null : (
          <small className="soft"> of {stepText(planned)}</small>
        )}
      </td>
    )
  if (column === 'status')
    return (
      <td className="run-more" title={endText(header)}>
        {header.source?.is_cut && header.step < LONG_STEP ? endText(header) : statusWord(header)}
      </td>
    )
  const { text, clock, whole } = shortWhen(begunAt(header), today)
  // Few logs say when their run began.
  if (header.source && header.source.begun === undefined)
    return (
      <td className="run-more run-started" title={`Imported: ${whole}`}>
        {NONE}
      </td>
    )
  return (
    <td className="run-more run-started" title={whole}>
      {text}
      {clock === undefined ? null : <span className="run-clock">{clock}</span>}
    </td>
  )
}

export const RunRow = memo(function RunRow(props: RunRowProps) {
  const { row, choice, told, columns, shares, without, isTicked, isShown, isEdited, today } = props
  const { entry, name, value, cells } = row
  const { id, header } = entry
  const inShares = shares.split('\n')
  return (
    <>
      <tr
        className={isShown ? 'run shown' : 'run'}
        data-testid="run"
        data-run={id}
        data-status={header.status}
      >
        <td>
          <label>
            <input
              type="checkbox"
              data-testid="tick"
              aria-label={`Compare ${name}`}
              checked={isTicked}
              onChange={({ target }) => tick(id, target.checked)}
            />
          </label>
        </td>
        <RunName {...props} />
        <td className="run-course">
          <Spark entry={entry} color={props.color} choice={choice} />
        </td>
        <td className="number" data-testid="run-value">
          {numberText(value, inShares.includes(`metric:${choice}`))}
          {told === undefined || value === undefined ? null : (
            <small className="soft run-told">{told}</small>
          )}
        </td>
        {columns.map((column, i) => (
          <td
            key={column}
            data-head={columnLabel(column)}
            className={typeof cells[i] === 'number' ? 'number run-cell' : 'run-cell'}
            title={typeof cells[i] === 'string' ? cells[i] : undefined}
          >
            {cellText(cells[i], column, entry, inShares.includes(column))}
          </td>
        ))}
        {fixedColumns({ without }).map(({ key }) => (
          <FixedCell key={key} column={key} header={header} today={today} />
        ))}
        <RunTools {...props} />
      </tr>
      {isEdited ? (
        <tr className="run-details">
          <td colSpan={OTHER_COLUMNS + fixedColumns({ without }).length + columns.length}>
            <RunDetails entry={entry} name={name} />
          </td>
        </tr>
      ) : null}
    </>
  )
})
