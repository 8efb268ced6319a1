// Shows the settings that the run does not follow: what differs, and the ways out.
import { useMemo } from 'react'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isSteerable } from '../../document/experiment/steering/edit_phases.ts'
import type { Preset } from '../../document/presets/preset.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { SUMMARIES } from '../../document/presets/summaries.ts'
import { newModelWords } from '../../host/protocol/vocabulary.ts'
import { discardEdits } from '../../page/client/button_edits.ts'
import { restart } from '../../page/client/controls.ts'
import type { LabState } from '../../page/state/store.ts'
import { canRestart } from '../open/actions.ts'
import { selectIsBusy, selectLeftOut, useLab } from '../shown/run.ts'

const selectSettings = (state: LabState) => state.experiment
const selectRun = (state: LabState) => state.runExperiment
const selectPhase = (state: LabState) => state.phase
const selectIsBeside = (state: LabState) => state.isBeside

const SHOWN = 8

const refusals = new WeakMap<LabState['steered'], ReadonlySet<string>>()

/** Fields that the run has refused to change. */
function selectRefused({ steered }: LabState): ReadonlySet<string> {
  let paths = refusals.get(steered)
  if (!paths) {
    const sets = steered.flatMap(({ entry, refused }) =>
      entry.kind === 'set' && refused !== undefined ? [entry.path] : [],
    )
    paths = new Set(sets)
    refusals.set(steered, paths)
  }
  return paths
}

interface Difference {
  readonly path: string
  readonly label: string
  readonly before: string
  readonly after: string
  /** The run will follow by itself. */
  readonly is_live: boolean
}

/** What the settings say otherwise than the run does; of phases that only one of them has, the
 * number. */
function differences(run: Experiment, settings: Experiment, phase: number): readonly Difference[] {
  if (sameSettings(run, settings)) return []
  const fields = new Map(experimentFields(settings).map((field) => [field.path, field]))
  const found: Difference[] = []
  for (const field of experimentFields(run)) {
    const other = fields.get(field.path)
    if (!other || other.value === field.value) continue
    // What a phase takes from the experiment is said once, there.
    if (other.isOverridden === false && field.isOverridden === false) continue
    if (!field.hasEffect && !other.hasEffect) continue
    const where = /^phases\.(\d+)/.exec(field.path)
    const label = where ? `Phase ${Number(where[1]) + 1}: ${field.label}` : field.label
    const show = (value: unknown) => (value === '' ? 'empty' : String(value ?? 'none'))
    found.push({
      path: field.path,
      label,
      before: show(field.value),
      after: show(other.value),
      is_live: isSteerable(field, phase),
    })
  }
  if (run.phases.length !== settings.phases.length)
    found.push({
      path: 'phases',
      label: 'Phases',
      before: `${run.phases.length}`,
      after: `${settings.phases.length}`,
      is_live: false,
    })
  return found
}

/** The preset that the settings are, with nothing changed in it. */
const presetIn = (settings: Experiment): Preset | undefined =>
  PRESETS.find(({ experiment }) => sameSettings(experiment, settings))

function Differences({ held }: { readonly held: readonly Difference[] }) {
  return (
    <>
      <dl className="differences">
        {held.slice(0, SHOWN).map(({ path, label, before, after }) => (
          <div key={path} data-path={path}>
            <dt>{label}</dt>
            <dd>
              <del>{before}</del> <span aria-hidden="true">→</span> <ins>{after}</ins>
            </dd>
          </div>
        ))}
      </dl>
      {held.length > SHOWN ? <p className="soft">and {held.length - SHOWN} more</p> : null}
    </>
  )
}

/** Another experiment than the run’s: what the page shows, what Restart would do, and what it is
 * about. `preset`: the one that it is, with nothing changed in it. */
function OtherChosen(props: {
  readonly preset: Preset | undefined
  readonly held: readonly Difference[]
}) {
  const { preset, held } = props
  return (
    <>
      <h2>
        {preset
          ? `“${preset.name}” is chosen, and another run is in progress`
          : 'Another experiment is chosen, and a run is in progress'}
      </h2>
      <p>
        Everything below belongs to the run in progress. <b>Restart with it</b> ends that run, which
        stays under Runs, and trains the chosen experiment.
      </p>
      {preset ? <p data-testid="chosen-summary">{SUMMARIES[preset.id]}</p> : null}
      {held.length > 0 ? (
        <details>
          <summary>What differs</summary>
          <Differences held={held} />
        </details>
      ) : null}
    </>
  )
}

export function Pending() {
  const isBusy = useLab(selectIsBusy)
  const settings = useLab(selectSettings)
  const run = useLab(selectRun)
  const phase = useLab(selectPhase)
  const all = useMemo(
    () => (isBusy && run ? differences(run, settings, phase) : []),
    [isBusy, run, settings, phase],
  )
  const refused = useLab(selectRefused)
  const isBeside = useLab(selectIsBeside)
  // What a run was asked to follow and could not is as much of a difference.
  const held = all.filter(({ path, is_live }) => isBeside || !is_live || refused.has(path))
  const leftOut = useLab(selectLeftOut)
  const newModel = run && newModelWords(run.task, settings.task)
  const preset = useMemo(() => presetIn(settings), [settings])
  const mayRestart = useLab(canRestart)
  if (!isBusy || (held.length === 0 && !isBeside)) return null
  return (
    <section
      className="card notices pending-box"
      aria-label="Changed settings"
      data-testid="pending"
    >
      <div>
        {preset || isBeside ? (
          <OtherChosen preset={preset} held={held} />
        ) : (
          <>
            <h2>Restart needed</h2>
            <p>
              The run on screen continues without them, because these settings cannot change during
              a run.
            </p>
            <Differences held={held} />
          </>
        )}
        {newModel === undefined ? null : <p data-testid="new-model">{newModel}</p>}
        {leftOut > 0 ? (
          <p className="soft" data-testid="restart-leaves-out">
            A restart has what the settings say now from its first step, and does not make the{' '}
            {leftOut === 1 ? 'change' : `${leftOut} changes`} by hand again on the way.
          </p>
        ) : null}
      </div>
      <div className="pending-ways">
        <button
          type="button"
          id="apply"
          data-testid="apply"
          className="primary"
          disabled={!mayRestart}
          onClick={restart}
        >
          Restart with it
        </button>
        <button type="button" data-testid="discard" onClick={discardEdits}>
          Discard
        </button>
      </div>
    </section>
  )
}
