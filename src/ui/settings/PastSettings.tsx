// Draws the settings of the past run that the page shows, to read and to take over.
import { SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { changesWords, fieldChanges } from '../../document/experiment/steered/field_changes.ts'
import { presetOf } from '../../document/presets/presets.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import { CutName } from '../kit/CutName.tsx'
import { closePast } from '../open/opened_run.ts'
import { takeSettings } from '../open/take_settings.ts'
import { useCalledName } from '../shown/names/called.ts'
import { fromPreset } from '../shown/names/from_preset.ts'
import { Unit } from './field/Unit.tsx'
import { type FieldData, groupFields, OPEN_AT_FIRST, shownFields, valueWords } from './form.ts'
import { rewardWords } from './rewards/part_words.ts'
import { SettingsSearch } from './SettingsSearch.tsx'
import { isFound } from './settings_search.ts'

interface PastSettingsProps {
  readonly entry: RunEntry
  readonly isOpen: boolean
  /** Folds and unfolds them. */
  readonly toggle: ReactNode
}

export function PastSettings({ entry, isOpen, toggle }: PastSettingsProps) {
  const name = useCalledName(entry)
  const isImported = entry.header.source !== undefined
  const from = fromPreset(entry, name)
  return (
    <aside
      className={isOpen ? 'settings card past' : 'settings card past closed'}
      aria-label="Settings of a past run"
      data-testid="past-settings"
    >
      <div className="settings-head">
        {isOpen ? (
          <h2>
            Settings of “<CutName name={name} />”
          </h2>
        ) : null}
        {toggle}
      </div>
      {isOpen ? (
        <div id="settings-body" className="past-settings">
          {from === '' ? null : <p className="soft pending">{from}</p>}
          <p className="soft pending">
            {isImported
              ? 'Not the current run. A log does not say with which settings its run was trained.'
              : 'Not the current run. To read only; what was changed during the run is said beside it.'}
          </p>
          {isImported ? null : (
            <button
              type="button"
              className="primary"
              data-testid="use-settings"
              onClick={() => {
                if (takeSettings(entry.id)) closePast()
              }}
            >
              <SlidersHorizontal className="icon" aria-hidden="true" /> Use these settings
            </button>
          )}
          {isImported ? null : <Values entry={entry} />}
        </div>
      ) : null}
    </aside>
  )
}

/** The heading of what is not as the preset says, or was changed during the run. */
const OWN = 'Its own'

/** Every setting that had an effect, under its heading. */
function Values({ entry }: { readonly entry: RunEntry }) {
  const { header } = entry
  const { experiment, preset_id } = header
  const [query, setQuery] = useState('')
  // What a phase takes over from the experiment is said there, with what became of it.
  const fields = useMemo(
    () => shownFields(experiment).filter(({ isOverridden }) => isOverridden !== false),
    [experiment],
  )
  const changes = useMemo(() => fieldChanges(header), [header])
  const preset = presetOf(preset_id)
  const original = useMemo(
    () => new Map((preset ? shownFields(preset.experiment) : []).map((f) => [f.path, f])),
    [preset],
  )
  const isSearching = query.trim() !== ''
  const isOwn = ({ path, value }: FieldData) => {
    const before = original.get(path)
    return changes.has(path) || (before !== undefined && before.value !== value)
  }
  // What sets the run apart comes first.
  const own = isSearching ? [] : fields.filter(isOwn)
  const found = fields.filter((field) => (isSearching ? isFound(query, field) : !isOwn(field)))
  const groups: [string, readonly FieldData[]][] = [
    ...(own.length > 0 ? [[OWN, own] as [string, readonly FieldData[]]] : []),
    ...groupFields(found),
  ]
  const row = (field: FieldData) => {
    const values = changes.get(field.path)
    const before = original.get(field.path)
    const differs = before !== undefined && before.value !== field.value
    return (
      <div key={field.path} className="past-field" data-changed={differs || undefined}>
        <dt title={field.help}>
          {own.includes(field) && field.path.startsWith('phases.') ? `${field.group}: ` : ''}
          {field.label}
        </dt>
        <dd data-testid={`past-${field.path}`}>
          {values
            ? changesWords(values, (value) => valueWords({ ...field, value }))
            : valueWords(field)}{' '}
          <Unit of={field.unit} />
          {differs ? <small className="soft">preset: {valueWords(before)}</small> : null}
        </dd>
      </div>
    )
  }
  return (
    <>
      <SettingsSearch query={query} onQuery={setQuery} />
      {/* Nothing in it takes the focus, and it scrolls. */}
      <div className="settings-body" tabIndex={0} role="group" aria-label="Settings of the run">
        {groups.map(([group, all]) => (
          <details
            key={`${group} ${isSearching}`}
            open={isSearching || group === OWN || OPEN_AT_FIRST.test(group)}
          >
            <summary>{group}</summary>
            <dl className="past-fields">
              {all.map(row)}
              {group === 'Task' && !isSearching ? (
                <div className="past-field">
                  <dt>Reward</dt>
                  <dd>{rewardWords(experiment.reward.parts)}</dd>
                </div>
              ) : null}
            </dl>
          </details>
        ))}
        {groups.length === 0 ? <p className="soft found-count">No setting is called so.</p> : null}
      </div>
    </>
  )
}
