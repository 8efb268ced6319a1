// Lets a person choose the second of two runs: these settings with one field changed, a preset, or
// a past run.
import { Swords } from 'lucide-react'
import { useMemo, useState } from 'react'
import { withField } from '../../../document/experiment/experiment.ts'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { PRESETS, presetOf } from '../../../document/presets/presets.ts'
import { duelProblem, startDuel } from '../../../page/runs/duel/duel.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { newRecorder } from '../../../page/runs/library/record_page.ts'
import { nextExperiment } from '../../../page/state/next_experiment.ts'
import type { LabState } from '../../../page/state/store.ts'
import { useWhyBusy } from '../../look/why_busy.ts'
import { PresetOptions } from '../../part/PresetOptions.tsx'
import { calledName } from '../../shown/names/called.ts'
import { refusedWords } from '../../shown/names/refused.ts'
import { useLab } from '../../shown/run.ts'
import { FieldPicker } from './FieldPicker.tsx'

const selectPresetId = (state: LabState) => state.preset_id
const selectReady = ({ adapter }: LabState) => adapter !== undefined

type Source = 'field' | 'preset' | 'run'
type Chosen =
  | { readonly ok: true; readonly experiment: Experiment; readonly preset_id: string }
  | { readonly ok: false; readonly why: string }

const SOURCES: readonly { readonly source: Source; readonly label: string }[] = [
  { source: 'field', label: 'these settings with one field changed' },
  { source: 'preset', label: 'a preset' },
  { source: 'run', label: 'a past run' },
]

/** Text of a control as the kind of value that the field holds. */
function readValue(kind: string, text: string): Field['value'] | undefined {
  if (kind === 'boolean') return text === 'true'
  if (kind === 'text') return text
  if (kind === 'select') return /^\d+$/.test(text) ? Number(text) : text
  return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text)
}

function changedField(
  settings: Experiment,
  preset_id: string,
  { path, kind, none }: Field,
  text: string,
): Chosen {
  const isNone = none !== undefined && text.trim() === ''
  const value = isNone ? null : readValue(kind, text)
  if (value === undefined) return { ok: false, why: refusedWords(`${path}: expected a number`) }
  const result = withField(settings, path, value)
  if (!result.ok) return { ok: false, why: refusedWords(result.message) }
  if (JSON.stringify(result.experiment) === JSON.stringify(settings))
    return { ok: false, why: 'Choose another value: the settings already have this one.' }
  return { ok: true, experiment: result.experiment, preset_id }
}

/** Fields that may differ: not the seed and not the task, and only what has an effect. */
function useFields(settings: Experiment) {
  return useMemo(
    () =>
      experimentFields(settings).filter(
        ({ path, group, hasEffect }) =>
          hasEffect &&
          path !== 'seed' &&
          path !== 'name' &&
          group !== 'Task' &&
          group !== 'Kernels',
      ),
    [settings],
  )
}

function SourceChoice(props: {
  readonly source: Source
  readonly onSource: (source: Source) => void
}) {
  const { source, onSource } = props
  return (
    <label>
      <span>Against</span>
      <select
        data-testid="duel-source"
        value={source}
        onChange={({ target }) =>
          onSource(SOURCES.find((known) => known.source === target.value)?.source ?? 'field')
        }
      >
        {SOURCES.map(({ source, label }) => (
          <option key={source} value={source}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ChoiceProps {
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

function PresetChoice({ chosen, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label="Preset"
      data-testid="duel-preset"
      value={chosen}
      onChange={({ target }) => onChoose(target.value)}
    >
      <PresetOptions />
    </select>
  )
}

function RunChoice({
  entries,
  chosen,
  onChoose,
}: ChoiceProps & { readonly entries: readonly RunEntry[] }) {
  return (
    <select
      aria-label="Past run"
      data-testid="duel-run"
      value={chosen}
      onChange={({ target }) => onChoose(target.value)}
    >
      {entries.map((entry) => (
        <option key={entry.id} value={entry.id}>
          {calledName(entry)}
        </option>
      ))}
    </select>
  )
}

function FieldChoice(props: {
  readonly fields: ReturnType<typeof useFields>
  readonly field: ReturnType<typeof useFields>[number]
  /** Undefined until somebody chose. */
  readonly value: string | undefined
  readonly unknown: string | undefined
  readonly onField: (path: string) => void
  readonly onUnknown: (typed: string) => void
  readonly onValue: (text: string) => void
}) {
  const { fields, field, value, unknown, onField, onUnknown, onValue } = props
  const present = `${field.value ?? ''}`
  const options =
    field.kind === 'boolean'
      ? [
          { value: 'true', label: 'on' },
          { value: 'false', label: 'off' },
        ]
      : field.options
  return (
    <>
      <FieldPicker id="duel" chosen={field} {...{ fields, unknown, onField, onUnknown }} />
      {options ? (
        <select
          aria-label="Value"
          value={value ?? present}
          onChange={({ target }) => onValue(target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={`${option.value}`}>
              {option.label}
            </option>
          ))}
        </select>
      ) : (
        <input
          type="text"
          aria-label="Value"
          data-testid="duel-value"
          placeholder={present && `A has ${present}`}
          value={value ?? ''}
          onChange={({ target }) => onValue(target.value)}
        />
      )}
    </>
  )
}

export function DuelChooser({ entries }: { readonly entries: readonly RunEntry[] }) {
  const settings = useLab(nextExperiment)
  const preset_id = useLab(selectPresetId)
  const isReady = useLab(selectReady)
  const whyBusy = useWhyBusy()
  const fields = useFields(settings)
  const [source, setSource] = useState<Source>('field')
  const [path, setPath] = useState('actor.optim.lr')
  const [unknown, setUnknown] = useState<string>()
  const [text, setText] = useState<string>()
  const [other, setOther] = useState(PRESETS[0].id)
  const [run, setRun] = useState(entries[0]?.id)
  const field = fields.find((candidate) => candidate.path === path) ?? fields[0]
  const choose = (): Chosen => {
    // Nothing is wrong before somebody chose, and beside a name that no field has it is said there.
    if (source === 'field' && (text === undefined || unknown !== undefined))
      return { ok: false, why: '' }
    if (source === 'field') return changedField(settings, preset_id, field, text ?? '')
    if (source === 'preset') {
      const preset = presetOf(other) ?? PRESETS[0]
      return { ok: true, experiment: preset.experiment, preset_id: preset.id }
    }
    const entry = entries.find(({ id }) => id === run) ?? entries[0]
    if (!entry) return { ok: false, why: 'There is no past run yet.' }
    return { ok: true, experiment: entry.header.document, preset_id: entry.header.preset_id }
  }
  const chosen = choose()
  const problem = chosen.ok ? duelProblem(settings, chosen.experiment) : chosen.why
  return (
    <div className="duel-choice">
      <SourceChoice source={source} onSource={setSource} />
      {source === 'preset' ? <PresetChoice chosen={other} onChoose={setOther} /> : null}
      {source === 'run' && entries.length > 0 ? (
        <RunChoice entries={entries} chosen={run} onChoose={setRun} />
      ) : null}
      {source === 'field' ? (
        <FieldChoice
          {...{ fields, field, unknown, value: text }}
          onField={(path) => {
            setPath(path)
            setUnknown(undefined)
            setText(undefined)
          }}
          onUnknown={setUnknown}
          onValue={setText}
        />
      ) : null}
      <button
        type="button"
        data-testid="duel-start"
        disabled={problem !== undefined || whyBusy !== undefined || !isReady}
        onClick={() => {
          if (chosen.ok) startDuel(chosen.experiment, chosen.preset_id, { newRecorder })
        }}
      >
        <Swords className="icon" aria-hidden="true" /> Train both
      </button>
      <p className="soft" data-testid="duel-problem" role="status">
        {whyBusy === undefined ? problem : `${whyBusy}.`}
      </p>
    </div>
  )
}
