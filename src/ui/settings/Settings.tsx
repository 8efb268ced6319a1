// Draws the experiment as a form from its schema: one fold per group.
import { ChevronsLeft, ChevronsRight, SlidersHorizontal, X } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { isSteerable } from '../../document/experiment/steering/edit_phases.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { t } from '../kit/translator.ts'
import { showDialog } from '../open/dialogs.ts'
import { useLocked } from '../open/locked.ts'
import { useOpenedEntry } from '../open/opened_run.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { useUnfold, useWantedPhase } from '../open/wanted.ts'
import { later } from '../part/later.tsx'
import { lazyPart } from '../part/lazy_part.tsx'
import { useSheet } from '../part/sheet.ts'
import { AddPhase, PhaseTools, panelOfGroup, phaseOfGroup } from '../phases/PhaseTools.tsx'
import { selectIsBusy, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { setPreference, type UiState, uiStore } from '../shown/store.ts'
import { Field } from './Field.tsx'
import {
  changedFields,
  changedParts,
  countChanged,
  type FieldData,
  groupFields,
  mainFields,
  OPEN_AT_FIRST,
  ownValues,
  shownFields,
  type Values,
} from './form.ts'
import { HistoryButtons } from './HistoryButtons.tsx'
import { RunSize } from './RunSize.tsx'
import { RewardLine } from './rewards/RewardDialog.tsx'
import { FoundSettings, SettingsSearch } from './SettingsSearch.tsx'
import { TaskSamples } from './TaskSamples.tsx'

const selectExperiment = (state: LabState) => state.experiment
const selectPreset = (state: LabState) => state.preset_id
const selectIsBeside = (state: LabState) => selectIsBusy(state) && state.isBeside
/** The phase of the run that follows the settings. */
const selectPresent = (state: LabState) =>
  selectIsBusy(state) && !state.isBeside ? state.phase : undefined
const selectOpen = (state: UiState) => state.settings_open
const selectWanted = (state: UiState) => state.wantedSetting

/** The first group below the phases. */
const AFTER_PHASES = 'Rollout'

const MAIN = 'Main settings'

const hasBegun = ({ phase_switches }: LabState) => phase_switches.length > 0

/** A run has to measure it. */
const SuggestedFor = later(
  'The suggested layer',
  async () => (await import('../inside/suggested/SuggestedFor.tsx')).SuggestedFor,
  () => usePresent(hasBegun),
)

/** Where a setting asks for another model that teaches. */
const asksTeacher = (path: string): boolean => /\.(distillation\.teacher|opd_kl_coef)$/.test(path)

const TeacherChoice = lazyPart(
  async () => (await import('./teacher/TeacherChoice.tsx')).TeacherChoice,
  { name: 'The choice of a teacher', fallback: null },
)

const helpsOf = (fields: readonly FieldData[]) => fields.map(({ help }) => t(help)).join(' ')

const Algorithm = lazyPart(async () => (await import('./Algorithm.tsx')).Algorithm, {
  name: 'The choice of an algorithm',
  fallback: <div className="field algorithm" />,
})

/** Beside the size of the model: another one can be looked into, or trained. */
function OpenModel() {
  return (
    <div className="task-samples">
      <button type="button" data-testid="open-model" onClick={() => showDialog('model')}>
        Open a model …
      </button>
    </div>
  )
}

function Group(props: {
  group: string
  fields: readonly FieldData[]
  original: Values
  /** Index of the phase that runs; undefined while none does. */
  present: number | undefined
  open: boolean
  onFold: (group: string, open: boolean) => void
}) {
  const { group, fields, original, present, open, onFold } = props
  useUnfold(
    fields.map(({ path }) => path),
    () => onFold(group, true),
  )
  const changed = changedFields(fields, original).length
  const phase = phaseOfGroup(group)
  const place = useWantedPhase(panelOfGroup(group), () => onFold(group, true))
  return (
    <details
      ref={phase === undefined ? undefined : place}
      open={open}
      onToggle={(event) => onFold(group, event.currentTarget.open)}
    >
      <summary>
        {group}
        {changed > 0 ? (
          <span className="badge">
            <span className="changed-dot" aria-hidden="true" /> {changed} changed
          </span>
        ) : null}
        {fields.some(({ remark }) => remark !== undefined) ? (
          <span className="badge" title="A run does not follow one of these values">
            note
          </span>
        ) : null}
      </summary>
      {open && phase !== undefined ? <PhaseTools index={phase} /> : null}
      {open && group === MAIN ? <Algorithm original={original} /> : null}
      {open
        ? fields.map((field, i) => (
            <Fragment key={field.path}>
              <Field
                field={field}
                changedFrom={original.get(field.path)}
                isLive={present !== undefined && isSteerable(field, present)}
                helpsBefore={helpsOf(fields.slice(0, i))}
              />
              {field.path === 'task.id' ? <TaskSamples /> : null}
              {field.path === 'task.id' ? <RewardLine /> : null}
              {field.path === 'model.num_hidden_layers' ? <OpenModel /> : null}
              {asksTeacher(field.path) ? <TeacherChoice path={field.path} /> : null}
              {phase !== undefined && field.path === `phases.${phase}.target_layer` ? (
                <SuggestedFor index={phase} />
              ) : null}
            </Fragment>
          ))
        : null}
    </details>
  )
}

interface ChangedProps {
  readonly count: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** How many settings differ from the preset; lists them. */
function Changed({ count, isOpen, onToggle }: ChangedProps) {
  const isLocked = useLocked('settings')
  if (count === 0 || isLocked) return null
  return (
    <button
      type="button"
      data-testid="show-changed"
      className="plain show-changed"
      aria-expanded={isOpen}
      title="What differs from the preset"
      onClick={onToggle}
    >
      <span className="changed-dot" aria-hidden="true" /> {count} changed
    </button>
  )
}

const ChangedSettings = lazyPart(
  async () => (await import('./ChangedSettings.tsx')).ChangedSettings,
  { name: 'The changed settings', fallback: null },
)

const setOpen = (settings_open: boolean) => setPreference({ settings_open })

interface ToggleProps {
  readonly open: boolean
  readonly onOpen: (open: boolean) => void
  /** Where they have no room beside the run it closes what lies over the page. */
  readonly isNarrow: boolean
}

function Toggle({ open, onOpen, isNarrow }: ToggleProps) {
  const Icon = isNarrow ? (open ? X : SlidersHorizontal) : open ? ChevronsLeft : ChevronsRight
  const says = open ? (isNarrow ? 'Close settings' : 'Fold settings') : 'Show settings'
  return (
    <button
      type="button"
      id="settings-toggle"
      data-testid="settings-toggle"
      className="plain"
      aria-expanded={open}
      aria-controls="settings-body"
      aria-label={says}
      onClick={() => onOpen(!open)}
    >
      <Icon className="icon" aria-hidden="true" />
      <span className="narrow-only">{open ? 'Close' : 'Settings'}</span>
    </button>
  )
}

function LiveNote({ isBeside }: { readonly isBeside: boolean }) {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  if (isReplaying)
    return (
      <p className="soft pending">
        A recording plays. These are the settings that it was made with.
      </p>
    )
  if (isBeside)
    return (
      <p className="soft pending">
        The run in progress is another experiment: it does not follow these settings.
      </p>
    )
  return (
    <p className="soft pending">
      A run is in progress. It follows changes marked <em>live</em> at its next step; others need a
      restart.
    </p>
  )
}

/** All settings under their headings. */
function Groups(props: {
  fields: readonly FieldData[]
  /** How many there are. */
  phases: number
  original: Values
  present: number | undefined
  folds: Readonly<Record<string, boolean>>
  onFold: (group: string, open: boolean) => void
}) {
  const { fields, phases, original, present, folds, onFold } = props
  const main = mainFields(fields, phases)
  const others = fields.filter((field) => !main.includes(field))
  const groups: [string, readonly FieldData[]][] = [[MAIN, main], ...groupFields(others)]
  return groups.map(([group, own]) => (
    <Fragment key={group}>
      {group === AFTER_PHASES ? <AddPhase /> : null}
      <Group
        group={group}
        fields={own}
        original={original}
        present={present}
        open={folds[group] ?? OPEN_AT_FIRST.test(group)}
        onFold={onFold}
      />
    </Fragment>
  ))
}

/** The preset with its values by path, and how many settings differ from them. */
function usePresetValues(
  experiment: LabState['experiment'],
  fields: readonly FieldData[],
  presetId: string,
) {
  const preset = PRESETS.find(({ id }) => id === presetId)
  const original = useMemo<Values>(
    () => (preset ? ownValues(preset.experiment, experiment) : new Map()),
    [preset, experiment],
  )
  const parts = changedParts(experiment, preset?.experiment ?? experiment)
  return { preset, original, parts, changed: countChanged(fields, original) + parts.length }
}

/** Of a past run that is shown; loaded when the first one is. */
const PastSettings = lazyPart(async () => (await import('./PastSettings.tsx')).PastSettings, {
  name: 'The settings of the past run',
  fallback: <aside className="settings card awaited" aria-label="Settings" />,
})

/** Those of the run that the page shows: the person's own, or a past one's to read. */
export function Settings() {
  const past = useOpenedEntry()
  const preferred = useStore(uiStore, selectOpen)
  // A log has none: they take no room unless somebody asks.
  const isLog = past?.header.source !== undefined
  const [isLogOpen, setLogOpen] = useState(false)
  const open = isLog ? isLogOpen : preferred
  const onOpen = isLog ? setLogOpen : setOpen
  const toggle = <Toggle open={open} onOpen={onOpen} isNarrow={useSheet(open, onOpen)} />
  if (!past) return <OwnSettings toggle={toggle} />
  return <PastSettings entry={past} toggle={toggle} isOpen={open} />
}

function OwnSettings({ toggle }: { readonly toggle: ReactNode }) {
  const experiment = useLab(selectExperiment)
  const presetId = useLab(selectPreset)
  const open = useStore(uiStore, selectOpen)
  const now = useLab(selectPresent)
  const isBeside = useLab(selectIsBeside)
  const wanted = useStore(uiStore, selectWanted)
  const isLocked = useLocked('settings')
  // Nothing of a recording, or of locked settings, is live.
  const present = isLocked ? undefined : now
  const fields = useMemo(() => shownFields(experiment), [experiment])
  const [folds, setFolds] = useState<Readonly<Record<string, boolean>>>({})
  const fold = (group: string, isOpen: boolean) =>
    setFolds((before) => (before[group] === isOpen ? before : { ...before, [group]: isOpen }))
  const [query, setQuery] = useState('')
  // A setting that is jumped to is shown among its neighbours.
  useEffect(() => {
    if (wanted) setQuery('')
  }, [wanted])
  const isSearching = query.trim() !== ''
  const [showsChanged, setShowsChanged] = useState(false)
  const { preset, original, changed, parts } = usePresetValues(experiment, fields, presetId)
  return (
    <aside className={open ? 'settings card' : 'settings card closed'} aria-label="Settings">
      <div className="settings-head">
        {open ? <h2>Settings</h2> : null}
        {open ? (
          <Changed
            count={changed}
            isOpen={showsChanged}
            onToggle={() => setShowsChanged(!showsChanged)}
          />
        ) : null}
        {open ? <HistoryButtons /> : null}
        {toggle}
      </div>
      {open ? <SettingsSearch query={query} onQuery={setQuery} /> : null}
      {open ? (
        <div
          id="settings-body"
          className="settings-body"
          // Nothing in it may take the focus, and it scrolls.
          {...(isLocked ? { tabIndex: 0, role: 'group', 'aria-label': 'Locked settings' } : {})}
        >
          {showsChanged && changed > 0 && preset ? (
            <ChangedSettings {...{ fields, original, preset, parts }} />
          ) : null}
          {isSearching ? null : <RunSize />}
          {now === undefined && !isBeside ? null : <LiveNote isBeside={isBeside} />}
          <fieldset className="settings-lock" disabled={isLocked}>
            {isSearching ? (
              <FoundSettings
                query={query}
                onQuery={setQuery}
                experiment={experiment}
                original={original}
                present={present}
              />
            ) : (
              <Groups
                fields={fields}
                phases={experiment.phases.length}
                original={original}
                present={present}
                folds={folds}
                onFold={fold}
              />
            )}
          </fieldset>
        </div>
      ) : null}
    </aside>
  )
}
