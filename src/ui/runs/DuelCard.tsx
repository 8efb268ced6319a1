// A/B: two runs in turns on one GPU, on the same charts.
import { Pause, Play, Square, Swords } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import {
  type Experiment,
  experimentFields,
  type FieldValue,
  withField,
} from '../../lab/experiment/experiment.ts'
import { nextExperiment } from '../../lab/page/next_experiment.ts'
import type { LabState } from '../../lab/page/store.ts'
import { PRESETS, presetOf } from '../../lab/presets/presets.ts'
import {
  type Duel,
  duelProblem,
  duelStore,
  endDuel,
  pauseDuel,
  resumeDuel,
  startDuel,
} from '../../lab/runs/duel.ts'
import { type RunEntry } from '../../lab/runs/library.ts'
import { runName } from '../../lab/runs/names.ts'
import { newRecorder } from '../../lab/runs/record_page.ts'
import { formatCount } from '../base/format.ts'
import { selectIsBusy, useLab } from '../base/run.ts'

const selectSecond = ({ second }: Duel) => second
const selectFirstStep = (state: LabState) => state.step
const selectFirstStatus = (state: LabState) => state.status
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

const WORDS: Readonly<Record<string, string>> = {
  running: 'training',
  preparing: 'preparing',
  paused: 'paused',
  finished: 'finished',
  failed: 'failed',
}

/** Text of a control as the kind of value that the field holds. */
function readValue(kind: string, text: string): FieldValue | undefined {
  if (kind === 'boolean') return text === 'true'
  if (kind === 'text') return text
  if (kind === 'select') return /^\d+$/.test(text) ? Number(text) : text
  return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text)
}

function changedField(
  settings: Experiment,
  preset_id: string,
  path: string,
  kind: string,
  text: string,
): Chosen {
  const value = readValue(kind, text)
  if (value === undefined) return { ok: false, why: `${path}: expected a number` }
  const result = withField(settings, path, value)
  if (!result.ok) return { ok: false, why: result.message }
  if (JSON.stringify(result.experiment) === JSON.stringify(settings))
    return { ok: false, why: 'Choose another value: this is what the settings say.' }
  return { ok: true, experiment: result.experiment, preset_id }
}

/** Fields that may differ: not the seed and not the task, and only what has an effect. */
function useFields(settings: Experiment) {
  return useMemo(
    () =>
      experimentFields(settings).filter(
        ({ path, group, has_effect }) =>
          has_effect &&
          path !== 'seed' &&
          path !== 'name' &&
          group !== 'Task' &&
          group !== 'Kernels',
      ),
    [settings],
  )
}

function Chooser({ entries }: { readonly entries: readonly RunEntry[] }) {
  const settings = useLab(nextExperiment)
  const preset_id = useLab(selectPresetId)
  const is_ready = useLab(selectReady)
  const is_busy = useLab(selectIsBusy)
  const fields = useFields(settings)
  const [source, setSource] = useState<Source>('field')
  const [path, setPath] = useState('actor.optim.lr')
  const [text, setText] = useState<string>()
  const [other, setOther] = useState(PRESETS[0].id)
  const [run, setRun] = useState(entries[0]?.id)
  const field = fields.find((candidate) => candidate.path === path) ?? fields[0]
  const value = text ?? `${field.value}`
  const choose = (): Chosen => {
    if (source === 'field') return changedField(settings, preset_id, field.path, field.kind, value)
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
  const options =
    field.kind === 'boolean'
      ? [
          { value: 'true', label: 'on' },
          { value: 'false', label: 'off' },
        ]
      : field.options
  return (
    <div className="duel-choice">
      <label>
        <span>Against</span>
        <select
          data-testid="duel-source"
          value={source}
          onChange={({ target }) =>
            setSource(SOURCES.find((known) => known.source === target.value)?.source ?? 'field')
          }
        >
          {SOURCES.map(({ source, label }) => (
            <option key={source} value={source}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {source === 'preset' ? (
        <select
          aria-label="Preset"
          data-testid="duel-preset"
          value={other}
          onChange={({ target }) => setOther(target.value)}
        >
          {PRESETS.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ) : null}
      {source === 'run' && entries.length > 0 ? (
        <select
          aria-label="Past run"
          data-testid="duel-run"
          value={run}
          onChange={({ target }) => setRun(target.value)}
        >
          {entries.map((entry) => (
            <option key={entry.id} value={entry.id}>
              {runName(entry).name}
            </option>
          ))}
        </select>
      ) : null}
      {source === 'field' ? (
        <>
          <select
            aria-label="Field"
            data-testid="duel-field"
            value={field.path}
            onChange={({ target }) => {
              setPath(target.value)
              setText(undefined)
            }}
          >
            {fields.map(({ path, group, label }) => (
              <option key={path} value={path}>
                {group}: {label}
              </option>
            ))}
          </select>
          {options ? (
            <select
              aria-label="Value"
              value={value}
              onChange={({ target }) => setText(target.value)}
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
              value={value}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </>
      ) : null}
      <button
        type="button"
        data-testid="duel-start"
        disabled={problem !== undefined || is_busy || !is_ready}
        onClick={() => {
          if (chosen.ok) startDuel(chosen.experiment, chosen.preset_id, { newRecorder })
        }}
      >
        <Swords className="icon" aria-hidden="true" /> Train both
      </button>
      <p className="soft" data-testid="duel-problem" role="status">
        {is_busy ? 'A run is on: finish or reset it first.' : problem}
      </p>
    </div>
  )
}

function Going({ second }: { readonly second: LabState }) {
  const step = useLab(selectFirstStep)
  const status = useLab(selectFirstStatus)
  const is_paused = status === 'paused' || second.status === 'paused'
  const is_over = [status, second.status].every((one) => one === 'finished' || one === 'failed')
  return (
    <div className="duel-choice" data-testid="duel-going">
      <p>
        A (living run): {WORDS[status] ?? status}, step{' '}
        <span data-testid="duel-first-step">{formatCount(step)}</span>. B:{' '}
        {WORDS[second.status] ?? second.status}, step{' '}
        <span data-testid="duel-second-step">{formatCount(second.step)}</span>
        {second.status === 'preparing' && second.message ? ` (${second.message})` : ''}.
      </p>
      {second.error ? (
        <p role="alert" className="runs-note bad">
          B failed: {second.error.message}
        </p>
      ) : null}
      <button type="button" data-testid="duel-pause" onClick={is_paused ? resumeDuel : pauseDuel}>
        {is_paused ? (
          <Play className="icon" aria-hidden="true" />
        ) : (
          <Pause className="icon" aria-hidden="true" />
        )}
        {is_paused ? 'Continue both' : 'Pause both'}
      </button>
      <button
        type="button"
        data-testid="duel-end"
        title={is_over ? undefined : 'Ends B, which stays in the list; A goes on by itself'}
        onClick={endDuel}
      >
        <Square className="icon" aria-hidden="true" /> {is_over ? 'Done' : 'End B'}
      </button>
    </div>
  )
}

export function DuelCard({ entries }: { readonly entries: readonly RunEntry[] }) {
  const second = useStore(duelStore, selectSecond)
  return (
    <section className="card duel" aria-labelledby="duel-title" data-testid="duel">
      <h2 id="duel-title">A/B: two runs in turns</h2>
      <p className="soft">
        Trains these settings (A) and a second experiment (B) on one GPU, a step of one after a step
        of the other, from the same seed and on the same prompts. B is drawn on the same charts and
        kept as a run of its own.
      </p>
      {second ? <Going second={second} /> : <Chooser entries={entries} />}
    </section>
  )
}
