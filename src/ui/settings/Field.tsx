// One setting, drawn from its schema: control, unit, help, what is wrong with it, and the way back.
import { RotateCcw } from 'lucide-react'
import { useCallback, useId, useState } from 'react'
import type { experimentFields } from '../../lab/experiment/experiment.ts'
import { valueAt } from '../../lab/experiment/paths.ts'
import { editField } from '../../lab/page/client/edits.ts'
import type { LabState } from '../../lab/page/store.ts'
import { formatNumber } from '../base/format.ts'
import { selectIsBusy, useLab } from '../base/run.ts'
import { Marked } from '../palette/Marked.tsx'
import { findWords, pathWords } from './settings_search.ts'
import { keyedValue, SLIDER_TICKS, sliderPosition, sliderValue } from './slider.ts'
import { useWanted } from './wanted.ts'

export type FieldData = ReturnType<typeof experimentFields>[number]

const hasSlider = ({ kind, min, max, path }: FieldData) =>
  (kind === 'integer' || kind === 'number') &&
  min !== undefined &&
  max !== undefined &&
  path !== 'seed'

/** Whether the run has another value than the settings. */
const isHeld = ({ experiment, run_experiment }: LabState, path: string): boolean =>
  run_experiment !== undefined &&
  run_experiment !== experiment &&
  valueAt(run_experiment, path) !== valueAt(experiment, path)

/** A value in a sentence. */
const spoken = (value: FieldData['value']): string => (value === '' ? 'empty' : String(value))

interface FieldProps {
  readonly field: FieldData
  /** The preset's value; undefined where the preset has no such field. */
  readonly changed_from: FieldData['value'] | undefined
  /** The present run follows a change. */
  readonly is_live?: boolean
  /** What was searched for; '' while nothing is. */
  readonly query?: string
}

export function Field({ field, changed_from, is_live = false, query = '' }: FieldProps) {
  const id = `field-${field.path.replaceAll('.', '-')}`
  const help_id = useId()
  const { ref, is_wanted } = useWanted(field.path)
  const [draft, setDraft] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const commit = (value: FieldData['value'] | undefined) => {
    const message = editField(field.path, value)
    setProblem(message)
    return message === undefined
  }
  const type = (text: string) => {
    const is_number = field.kind === 'integer' || field.kind === 'number'
    const value = is_number ? Number(text) : text
    if (is_number && text.trim() === '') setProblem('expected a number')
    else if (commit(value)) {
      setDraft(is_number ? text : undefined)
      return
    }
    setDraft(text)
  }
  const is_held = useLab(
    useCallback(
      (state: LabState) => !is_live && selectIsBusy(state) && isHeld(state, field.path),
      [is_live, field.path],
    ),
  )
  const is_changed = changed_from !== undefined && changed_from !== field.value
  const before = is_changed ? changed_from : undefined
  return (
    <div
      ref={ref}
      className="field"
      data-changed={is_changed || field.is_overridden || undefined}
      data-wanted={is_wanted || undefined}
    >
      <div className="field-head">
        <label htmlFor={id}>
          <Marked text={field.label} marks={findWords(query, field.label, false)} />
        </label>
        {is_live ? (
          <span className="live-mark" title="The present run follows at its next step">
            live
          </span>
        ) : null}
        {is_held ? (
          <span
            className="live-mark held"
            title="The present run continues without this change; Restart begins a new run with it"
          >
            needs restart
          </span>
        ) : null}
        {is_changed || field.is_overridden ? (
          <button
            type="button"
            className="plain undo"
            title={
              before === undefined ? 'Take the experiment’s value' : `Back to ${spoken(before)}`
            }
            aria-label={`Reset ${field.label}`}
            onClick={() => {
              setDraft(undefined)
              commit(before === field.default ? undefined : before)
            }}
          >
            <span className="changed-dot" aria-hidden="true" />
            <RotateCcw className="icon" aria-hidden="true" />
          </button>
        ) : null}
      </div>
      <Control
        field={field}
        id={id}
        help_id={help_id}
        draft={draft}
        is_invalid={problem !== undefined}
        onType={type}
        onCommit={(value) => {
          setDraft(undefined)
          commit(value)
        }}
        onBlur={() => {
          if (problem === undefined) setDraft(undefined)
        }}
      />
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
          <button
            type="button"
            className="plain"
            onClick={() => {
              setDraft(undefined)
              setProblem(undefined)
            }}
          >
            keep {spoken(field.value)}
          </button>
        </p>
      )}
      {field.remark === undefined ? null : (
        <p className="remark" data-testid={`${id}-remark`}>
          {field.remark}
        </p>
      )}
      <p id={help_id} className="soft help">
        <Marked text={field.help} marks={findWords(query, field.help, true)} />
      </p>
      {query === '' ? null : (
        <p className="soft field-path">
          <Marked
            text={pathWords(field.path)}
            marks={findWords(query, pathWords(field.path), false)}
          />
        </p>
      )}
    </div>
  )
}

interface ControlProps {
  readonly field: FieldData
  readonly id: string
  readonly help_id: string
  readonly draft: string | undefined
  readonly is_invalid: boolean
  readonly onType: (text: string) => void
  readonly onCommit: (value: FieldData['value']) => void
  readonly onBlur: () => void
}

function Control({ field, id, help_id, draft, is_invalid, ...on }: ControlProps) {
  const shared = {
    id,
    'data-testid': id,
    'aria-describedby': help_id,
    'aria-invalid': is_invalid || undefined,
  }
  if (field.kind === 'boolean')
    return (
      <input
        {...shared}
        type="checkbox"
        checked={field.value === true}
        onChange={(event) => on.onCommit(event.target.checked)}
      />
    )
  if (field.kind === 'select')
    return (
      <select
        {...shared}
        value={String(field.value)}
        onChange={(event) => {
          const option = field.options?.find((o) => String(o.value) === event.target.value)
          if (option) on.onCommit(option.value)
        }}
      >
        {field.options?.map((option) => (
          <option key={option.value} value={String(option.value)}>
            {option.label}
          </option>
        ))}
      </select>
    )
  if (field.kind === 'text')
    return (
      <input
        {...shared}
        type="text"
        maxLength={field.max}
        value={draft ?? String(field.value)}
        onChange={(event) => on.onType(event.target.value)}
        onBlur={on.onBlur}
      />
    )
  const value = Number(field.value)
  return (
    <div className="numeric">
      <input
        {...shared}
        type="number"
        min={field.min}
        max={field.max}
        step={field.kind === 'integer' ? field.step : 'any'}
        value={draft ?? String(field.value)}
        onChange={(event) => on.onType(event.target.value)}
        onBlur={on.onBlur}
      />
      <span className="soft unit">{field.unit}</span>
      {hasSlider(field) ? (
        <input
          type="range"
          min={0}
          max={SLIDER_TICKS}
          step="any"
          aria-label={`${field.label}, slider`}
          aria-valuetext={`${formatNumber(value)} ${field.unit}`}
          value={sliderPosition(field, value)}
          onChange={(event) => on.onCommit(sliderValue(field, Number(event.target.value)))}
          onKeyDown={(event) => {
            // The browser's own step may be less than one of the value, which would then never change.
            const next = keyedValue(field, value, event.key)
            if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
            event.preventDefault()
            on.onCommit(next)
          }}
        />
      ) : null}
    </div>
  )
}
