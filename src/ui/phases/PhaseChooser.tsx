// Asks which phase to add, and where: at the end, or now, during the run.
import { useEffect, useMemo, useRef, useState } from 'react'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import {
  type PhaseChoice,
  phaseChoices,
  placedPhase,
} from '../../document/presets/phase_choices.ts'
import { appendPhase } from '../../page/client/edits.ts'
import { steer } from '../../page/client/steering.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatSteps } from '../kit/format.ts'
import { layerEntropy } from '../shown/metrics.ts'
import { seriesOf, useLab } from '../shown/run.ts'
import { uiStore } from '../shown/store.ts'
import { stepsProblem } from './typed_steps.ts'

const selectPresent = (state: LabState) => state.phase
const presentOf = ({ runExperiment, phase }: LabState) =>
  runExperiment && resolvePhases(runExperiment)[phase]
/** Steps that the present phase has not taken yet; those in flight are among them. */
const selectLeft = (state: LabState): number =>
  Math.max(0, (presentOf(state)?.steps ?? 0) - state.phase_step)
const selectName = (state: LabState): string => presentOf(state)?.name ?? ''
/** A reward model cannot continue after another phase. */
const selectCanResume = (state: LabState): boolean => presentOf(state)?.kind !== 'reward_model'

const GROUPS: readonly PhaseChoice['group'][] = ['Methods', 'From presets']

export interface PhaseChooserProps {
  readonly id: string
  readonly experiment: Experiment
  readonly isBusy: boolean
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
  /** The phase has its place. */
  readonly onDone: () => void
}

/** It closes on Escape, with the tab, and where a run begins: it was opened for what was there.
 * Where one ends it stays, and adds to the next. */
function useClosing(id: string, isBusy: boolean, onDone: () => void): void {
  const done = useRef(onDone)
  done.current = onDone
  const wasBusy = useRef(isBusy)
  useEffect(() => {
    if (isBusy && !wasBusy.current) done.current()
    wasBusy.current = isBusy
  }, [isBusy])
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      done.current()
      document.querySelector<HTMLElement>(`[aria-controls="${id}"]`)?.focus()
    }
    document.addEventListener('keydown', close)
    const stop = uiStore.subscribe(({ tab }, before) => {
      if (tab !== before.tab) done.current()
    })
    return () => {
      document.removeEventListener('keydown', close)
      stop()
    }
  }, [id])
}

/** How the last phase of reinforcement estimates advantages, which is the id of a choice where that
 * is one of the methods. */
const ownMethod = ({ phases }: Experiment): string | undefined =>
  phases.findLast((phase) => phase.kind === 'rl')?.adv_estimator

export function PhaseChooser({ id, experiment, isBusy, onSaid, onDone }: PhaseChooserProps) {
  useClosing(id, isBusy, onDone)
  const choices = useMemo(() => phaseChoices(experiment), [experiment])
  const [choiceId, setChoice] = useState(() => ownMethod(experiment))
  const choice = choices.find((candidate) => candidate.id === choiceId) ?? choices[0]
  /** As they were typed; another kind keeps them. */
  const [ownSteps, setSteps] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const [ownLayer, setLayer] = useState<number>()
  const present = useLab(selectPresent)
  const layers = experiment.model.num_hidden_layers - 1
  const steps = ownSteps ?? `${choice.phase.steps}`
  const wrong = stepsProblem(steps)
  const layer = Math.min(ownLayer ?? layers, layers)
  const phase = (index: number): PhaseDocument => ({
    ...placedPhase(choice, experiment.phases, index),
    steps: Number(steps),
    ...(choice.hasLayer && choice.phase.kind === 'rl' && { target_layer: layer }),
  })
  const act = (what: string, problem: string | undefined) => {
    setProblem(problem)
    if (problem !== undefined) return
    onSaid(`${choice.label} ${what}`)
    onDone()
  }
  return (
    <fieldset className="add-phases" id={id} data-testid="add-phases">
      <legend className="visually-hidden">A phase to add</legend>
      <KindChoice
        choices={choices}
        chosen={choice}
        onChoose={(id) => {
          setChoice(id)
          setProblem(undefined)
        }}
      />
      {choice.hasLayer ? <LayerChoice layers={layers} layer={layer} onLayer={setLayer} /> : null}
      <StepsField
        steps={steps}
        isWrong={wrong !== undefined}
        onSteps={(text) => {
          setSteps(text)
          setProblem(undefined)
        }}
      />
      {isBusy ? (
        <Places isOff={wrong !== undefined} phase={() => phase(present + 1)} onAct={act} />
      ) : null}
      <button
        type="button"
        data-testid="append-phase"
        disabled={wrong !== undefined}
        onClick={() => act('added at the end', appendPhase(phase(experiment.phases.length)))}
      >
        Add at the end
      </button>
      {wrong === undefined && problem === undefined ? null : (
        <p className="problem" role="alert" data-testid="add-phase-problem">
          {wrong ?? problem}
        </p>
      )}
    </fieldset>
  )
}

function KindChoice(props: {
  readonly choices: readonly PhaseChoice[]
  readonly chosen: PhaseChoice
  readonly onChoose: (id: string) => void
}) {
  const { choices, chosen, onChoose } = props
  return (
    <label>
      Phase
      <select
        data-testid="add-phase-kind"
        value={chosen.id}
        onChange={(event) => onChoose(event.target.value)}
      >
        {GROUPS.map((group) => (
          <optgroup key={group} label={group}>
            {choices
              .filter((candidate) => candidate.group === group)
              .map((candidate) => (
                <option key={candidate.id} value={candidate.id}>
                  {candidate.label}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}

/** A layer, with the newest entropy of its policy where that was measured: '2: 1.43 nats'. */
function layerWords(layer: number): string {
  const column = seriesOf(layerEntropy(layer))
  const nats = column && column.length > 0 ? column.values[column.length - 1] : Number.NaN
  return Number.isFinite(nats) ? `${layer}: ${nats.toFixed(2)} nats` : `${layer}`
}

function LayerChoice(props: {
  readonly layers: number
  readonly layer: number
  readonly onLayer: (layer: number) => void
}) {
  const { layers, layer, onLayer } = props
  return (
    <label>
      Layer
      <select
        data-testid="add-phase-layer"
        value={layer}
        onChange={(event) => onLayer(Number(event.target.value))}
      >
        {Array.from({ length: layers }, (_, i) => (
          <option key={i + 1} value={i + 1}>
            {layerWords(i + 1)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** `steps` as they are typed. */
function StepsField(props: {
  readonly steps: string
  readonly isWrong: boolean
  readonly onSteps: (text: string) => void
}) {
  const { steps, isWrong, onSteps } = props
  return (
    <label>
      Steps
      <input
        type="number"
        data-testid="add-phase-steps"
        min={1}
        max={100000}
        value={steps}
        aria-invalid={isWrong || undefined}
        onChange={(event) => onSteps(event.target.value)}
      />
    </label>
  )
}

/** Where a phase can begin in a run that is on, and what becomes of the present one: what keeps the
 * most of it first. */
function Places(props: {
  readonly isOff: boolean
  readonly phase: () => PhaseDocument
  readonly onAct: (what: string, problem: string | undefined) => void
}) {
  const { isOff, phase, onAct } = props
  const left = useLab(selectLeft)
  const name = useLab(selectName)
  const canResume = useLab(selectCanResume)
  const canKeep = left > 0 && canResume
  return (
    <>
      {canKeep ? (
        <button
          type="button"
          className="primary"
          data-testid="insert-and-resume"
          disabled={isOff}
          title="This phase begins after the step in flight; the rest of the present one follows it"
          onClick={() =>
            onAct(
              `begins now, and the rest of ${name} after it`,
              steer({ kind: 'interrupt_phase', phase: phase() }),
            )
          }
        >
          Begin now, the rest after it
        </button>
      ) : null}
      {left > 0 ? (
        <button
          type="button"
          className={canKeep ? undefined : 'primary'}
          data-testid="insert-after"
          disabled={isOff}
          title="This phase begins when all steps of the present one are done"
          onClick={() =>
            onAct(`begins after ${name}`, steer({ kind: 'follow_phase', phase: phase() }))
          }
        >
          After this phase
        </button>
      ) : null}
      <button
        type="button"
        className={left > 0 ? undefined : 'primary'}
        data-testid="insert-now"
        disabled={isOff}
        title="The present phase ends after the step in flight, and this one begins"
        onClick={() => onAct('begins now', steer({ kind: 'insert_phase', phase: phase() }))}
      >
        {left > 0 ? `Begin now, drop ${formatSteps(left)}` : 'Begin now'}
      </button>
      {left > 0 ? (
        <p className="soft insert-drops" data-testid="insert-drops">
          “{name}” has {formatSteps(left)} left.
        </p>
      ) : null}
    </>
  )
}
