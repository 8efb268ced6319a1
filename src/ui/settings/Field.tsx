// Draws one setting from its schema: control, unit, help, what is wrong with it, and the way
// back.
import { RotateCcw } from 'lucide-react'
import { type ComponentProps, useCallback, useId, useRef, useState } from 'react'
import { valueAt } from '../../document/experiment/fields/paths.ts'
import { dropWrong, editField, keepWrong, takeBack } from '../../page/client/edits.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import type { WrongField } from '../../record/run/run_parts.ts'
import { Words } from '../glossary/Words.tsx'
import { Marked } from '../kit/Marked.tsx'
import { t } from '../kit/translator.ts'
import { useWanted } from '../open/wanted.ts'
import { later } from '../part/later.tsx'
import { formName } from '../shown/names/labelled.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'
import { Control } from './Control.tsx'
import { nearestTaken } from './field/nearest_taken.ts'
import { type FieldData, isNumber, spoken, typedValue } from './form.ts'
import { findWords, foundChoices, pathWords } from './settings_search.ts'
import type { WrongValue as Wrong } from './WrongValue.tsx'

/** Whether the run has another value than the settings. */
const isHeld = ({ experiment, runExperiment }: LabState, path: string): boolean =>
  runExperiment !== undefined &&
  runExperiment !== experiment &&
  valueAt(runExperiment, path) !== valueAt(experiment, path)

interface FieldProps {
  readonly field: FieldData
  /** The preset's value; undefined where the preset has no such field. */
  readonly changedFrom: FieldData['value'] | undefined
  /** The present run follows a change. */
  readonly isLive?: boolean
  /** What was searched for; '' while nothing is. */
  readonly query?: string
  /** The explanations of the fields above it, in the page's language. */
  readonly helpsBefore?: string
}

function FieldHead(props: {
  readonly field: FieldData
  readonly id: string
  readonly query: string
  readonly isLive: boolean
  /** It is not what the preset says. */
  readonly isChanged: boolean
  /** The preset's value, where it is another one. */
  readonly before: FieldData['value'] | undefined
  readonly onReset: () => void
}) {
  const { field, id, query, isLive, isChanged, before, onReset } = props
  const holdsNow = useLab(
    useCallback(
      (state: LabState) => !isLive && selectIsBusy(state) && isHeld(state, field.path),
      [isLive, field.path],
    ),
  )
  return (
    <div className="field-head">
      <label htmlFor={id}>
        <Marked text={t(field.label)} marks={findWords(query, t(field.label), false)} />
      </label>
      {isLive ? (
        <span className="live-mark" title="The present run follows at its next step">
          live
        </span>
      ) : null}
      {holdsNow ? (
        <span
          className="live-mark held"
          title="The present run continues without this change; Restart begins a new run with it"
        >
          needs restart
        </span>
      ) : null}
      {isChanged ? (
        <button
          type="button"
          className="plain undo"
          title={
            before === undefined
              ? 'Take the experiment’s value'
              : `Back to ${spoken({ ...field, value: before })}`
          }
          aria-label={`Put ${field.label} back`}
          onClick={onReset}
        >
          <span className="changed-dot" aria-hidden="true" />
          <RotateCcw className="icon" aria-hidden="true" />
        </button>
      ) : null}
    </div>
  )
}

/** Why a search found it, where only its closed menu says so. */
function Choices({ query, field }: { readonly query: string; readonly field: FieldData }) {
  const found = query === '' ? [] : foundChoices(query, field)
  return found.length === 0 ? null : (
    <p className="soft found-choices">
      Among its choices:{' '}
      {found.map((label) => (
        <span key={label}>
          “<Marked text={t(label)} marks={findWords(query, t(label), false)} />”
        </span>
      ))}
    </p>
  )
}

type Held = NonNullable<WrongField['before']>

const wrongAt = ({ wrongFields }: LabState, path: string) =>
  wrongFields.find((wrong) => wrong.path === path)

/** What is wrong with a value that was typed, and the ways out. */
const WrongValue = later<ComponentProps<typeof Wrong>>(
  'What is wrong with a setting',
  async () => (await import('./WrongValue.tsx')).WrongValue,
)

const selectIsSteered = ({ runDocument, experiment }: LabState): boolean =>
  (runDocument ?? experiment).steering.length > 0

/** The values of a setting that a person changed while the run went on. */
const OverRun = later<{ readonly id: string; readonly path: string }>(
  'The values during the run',
  async () => (await import('./field/OverRun.tsx')).OverRun,
  () => useLab(selectIsSteered),
)

/** What a field has, for the way back. */
const heldBy = (field: FieldData): Held => ({
  value: field.isOverridden === false ? undefined : field.value,
  said: spoken(field),
})

/** What was typed and does not hold yet, and what is wrong with it, which Train waits for. */
function useDraft(field: FieldData) {
  const { path } = field
  const [draft, setDraft] = useState<string>()
  const wrong = useLab(useCallback((state: LabState) => wrongAt(state, path), [path]))
  // Each letter that holds is set at once: the way back is to what was there before the first.
  const begun = useRef<Held>(undefined)
  const refuse = (text: string, problem: string) => {
    const before = begun.current ?? heldBy(field)
    keepWrong({ path, label: formName(field), text, problem, before })
  }
  const end = () => {
    begun.current = undefined
    setDraft(undefined)
  }
  const commit = (value: FieldData['value'] | undefined, text = String(value)) => {
    const message = editField(path, value)
    if (message === undefined) dropWrong(path)
    else refuse(text, message)
    return message === undefined
  }
  return {
    draft: wrong?.text ?? draft,
    wrong,
    /** Sets a value that was chosen; undefined takes the default. */
    set: (value: FieldData['value'] | undefined) => {
      end()
      commit(value)
    },
    type: (text: string) => {
      begun.current ??= wrong?.before ?? heldBy(field)
      const value = typedValue(field, text)
      if (value === null && field.none === undefined) refuse(text, `${path}: expected a number`)
      else if (commit(value, text)) setDraft(isNumber(field) ? text : undefined)
    },
    leave: end,
    drop: () => {
      end()
      if (wrong) takeBack(wrong)
    },
  }
}

/** A name stays as it is kept; the page's own are shown in its language elsewhere. */
export function NameShown({ path, value }: Pick<FieldData, 'path' | 'value'>) {
  if (path !== 'name' || typeof value !== 'string' || t(value) === value) return null
  return <p className="soft help">Shown as “{t(value)}”.</p>
}

export function Field(props: FieldProps) {
  const { field, changedFrom, isLive = false, query = '', helpsBefore = '' } = props
  const id = `field-${field.path.replaceAll('.', '-')}`
  const helpId = useId()
  const { ref, isWanted } = useWanted(field.path)
  const { draft, wrong, set, type, leave, drop } = useDraft(field)
  const differs = changedFrom !== undefined && changedFrom !== field.value
  const before = differs ? changedFrom : undefined
  const isChanged = differs || field.isOverridden === true
  return (
    <div
      ref={ref}
      className="field"
      data-changed={isChanged || undefined}
      data-wanted={isWanted || undefined}
      data-inherited={field.isOverridden === false || undefined}
    >
      <FieldHead
        {...{ field, id, query, isLive, before, isChanged }}
        onReset={() => set(before === field.default ? undefined : before)}
      />
      <Control
        {...{ field, id, helpId, draft }}
        isInvalid={wrong !== undefined}
        onType={type}
        onCommit={set}
        onSlide={(value, by) =>
          set(nearestTaken(labStore.getState().experiment, field.path, value, by))
        }
        onBlur={leave}
      />
      <NameShown path={field.path} value={field.value} />
      {wrong ? <WrongValue field={field} wrong={wrong} onKeep={drop} /> : null}
      <OverRun id={id} path={field.path} />
      {field.remark === undefined ? null : (
        <p className="remark" data-testid={`${id}-remark`}>
          {field.remark}
        </p>
      )}
      <p id={helpId} className="soft help">
        {query === '' ? (
          <Words text={field.help} after={helpsBefore} />
        ) : (
          <Marked text={t(field.help)} marks={findWords(query, t(field.help), true)} />
        )}
      </p>
      <Choices query={query} field={field} />
      {query === '' ? null : (
        <p className="soft field-path">
          <Marked
            text={pathWords(field.path, t)}
            marks={findWords(query, pathWords(field.path, t), false)}
          />
        </p>
      )}
    </div>
  )
}
