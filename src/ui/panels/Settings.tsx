// The experiment as a form, drawn from its schema: one fold per group.
import { ChevronsLeft, ChevronsRight, SlidersHorizontal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { reset, train } from '../../lab/client.ts'
import { experimentFields } from '../../lab/experiment.ts'
import { PRESETS } from '../../lab/presets.ts'
import type { LabState } from '../../lab/store.ts'
import { selectIsBusy, selectIsEdited, useLab } from '../run.ts'
import { setPreference, type UiState, uiStore } from '../store.ts'
import { Field, type FieldData } from './Field.tsx'

const selectExperiment = (state: LabState) => state.experiment
const selectPreset = (state: LabState) => state.preset_id
const selectOpen = (state: UiState) => state.settings_open

/** Groups that are unfolded at first: what people change first. */
const OPEN_AT_FIRST = /^(Experiment|Task)$/

/** Fields under their headings, in the order of the form. */
export function groupFields(fields: readonly FieldData[]): [string, FieldData[]][] {
  const groups = new Map<string, FieldData[]>()
  for (const field of fields) {
    const group = groups.get(field.group)
    if (group) group.push(field)
    else groups.set(field.group, [field])
  }
  return [...groups]
}

function Group(props: {
  group: string
  fields: readonly FieldData[]
  original: ReadonlyMap<string, FieldData['value']>
}) {
  const { group, fields, original } = props
  const [open, setOpen] = useState(OPEN_AT_FIRST.test(group))
  const changed = fields.filter((field) => {
    const before = original.get(field.path)
    return field.is_overridden || (before !== undefined && before !== field.value)
  }).length
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {group}
        {changed > 0 ? (
          <span className="badge">
            <span className="changed-dot" aria-hidden="true" /> {changed} changed
          </span>
        ) : null}
      </summary>
      {open
        ? fields.map((field) => (
            <Field key={field.path} field={field} changed_from={original.get(field.path)} />
          ))
        : null}
    </details>
  )
}

function Pending() {
  const is_busy = useLab(selectIsBusy)
  const is_edited = useLab(selectIsEdited)
  if (!is_busy) return null
  if (!is_edited)
    return <p className="soft pending">A run is on. Changes take effect at the next run.</p>
  return (
    <p className="pending changed" data-testid="pending">
      The settings differ from the run on screen.
      <button
        type="button"
        id="apply"
        data-testid="apply"
        onClick={() => {
          reset()
          train()
        }}
      >
        Reset to apply
      </button>
    </p>
  )
}

export function Settings() {
  const experiment = useLab(selectExperiment)
  const preset_id = useLab(selectPreset)
  const open = useStore(uiStore, selectOpen)
  const groups = useMemo(() => groupFields(experimentFields(experiment)), [experiment])
  const original = useMemo(() => {
    const preset = PRESETS.find(({ id }) => id === preset_id)
    const fields = preset ? experimentFields(preset.experiment) : []
    return new Map(fields.map((field) => [field.path, field.value]))
  }, [preset_id])
  return (
    <aside className={open ? 'settings card' : 'settings card closed'} aria-label="Settings">
      <div className="settings-head">
        {open ? <h2>Settings</h2> : null}
        <button
          type="button"
          id="settings-toggle"
          data-testid="settings-toggle"
          className="plain"
          aria-expanded={open}
          aria-controls="settings-body"
          aria-label={open ? 'Fold settings' : 'Show settings'}
          onClick={() => setPreference({ settings_open: !open })}
        >
          <SlidersHorizontal className="icon narrow-only" aria-hidden="true" />
          {open ? (
            <ChevronsLeft className="icon wide-only" aria-hidden="true" />
          ) : (
            <ChevronsRight className="icon wide-only" aria-hidden="true" />
          )}
          <span className="narrow-only">{open ? 'Fold' : 'Settings'}</span>
        </button>
      </div>
      {open ? (
        <div id="settings-body" className="settings-body">
          <Pending />
          {groups.map(([group, fields]) => (
            <Group key={group} group={group} fields={fields} original={original} />
          ))}
        </div>
      ) : null}
    </aside>
  )
}
