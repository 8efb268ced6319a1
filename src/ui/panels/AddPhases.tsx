// Which phase to add, and where: at the end, or now, while the run goes on.
import { type ReactNode, useId, useMemo, useState } from 'react'
import { appendPhase, steer } from '../../lab/client.ts'
import { type Experiment, MAX_PHASES, type PhaseDocument } from '../../lab/experiment.ts'
import { type PhaseChoice, phaseChoices, placedPhase } from '../../lab/phase_choices.ts'
import type { LabState } from '../../lab/store.ts'
import { useLab } from '../run.ts'

const selectPresent = (state: LabState) => state.phase

const GROUPS: readonly PhaseChoice['group'][] = ['Methods', 'From presets']

interface AddPhasesProps {
  readonly experiment: Experiment
  readonly is_busy: boolean
  readonly icon: ReactNode
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
}

export function AddPhases({ experiment, is_busy, icon, onSaid }: AddPhasesProps) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const is_full = experiment.phases.length >= MAX_PHASES
  return (
    <>
      <button
        type="button"
        data-testid="add-phase"
        aria-expanded={open}
        aria-controls={id}
        disabled={is_full}
        title={is_full ? `An experiment has at most ${MAX_PHASES} phases` : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon} {is_busy ? 'Insert phase' : 'Add phase'}
      </button>
      {open && !is_full ? (
        <Chooser id={id} experiment={experiment} is_busy={is_busy} onSaid={onSaid} />
      ) : null}
    </>
  )
}

function Chooser(props: { id: string } & Omit<AddPhasesProps, 'icon'>) {
  const { id, experiment, is_busy, onSaid } = props
  const choices = useMemo(() => phaseChoices(experiment), [experiment])
  const [choice_id, setChoice] = useState(choices[0]?.id)
  const choice = choices.find((candidate) => candidate.id === choice_id) ?? choices[0]
  const [own_steps, setSteps] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const [own_layer, setLayer] = useState<number>()
  const present = useLab(selectPresent)
  const layers = experiment.model.num_hidden_layers - 1
  const steps = own_steps ?? `${choice.phase.steps}`
  const layer = Math.min(own_layer ?? layers, layers)
  const phase = (index: number): PhaseDocument => ({
    ...placedPhase(choice, experiment.phases, index),
    steps: steps.trim() === '' ? Number.NaN : Number(steps),
    ...(choice.has_layer && choice.phase.kind === 'rl' && { target_layer: layer }),
  })
  const act = (what: string, problem: string | undefined) => {
    setProblem(problem)
    if (problem === undefined) onSaid(`${choice.label} ${what}`)
  }
  return (
    <fieldset className="add-phases" id={id} data-testid="add-phases">
      <legend className="visually-hidden">A phase to add</legend>
      <label>
        Phase
        <select
          data-testid="add-phase-kind"
          value={choice.id}
          onChange={(event) => {
            setChoice(event.target.value)
            setSteps(undefined)
            setProblem(undefined)
          }}
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
      {choice.has_layer ? (
        <label>
          Layer
          <select
            data-testid="add-phase-layer"
            value={layer}
            onChange={(event) => setLayer(Number(event.target.value))}
          >
            {Array.from({ length: layers }, (_, i) => (
              <option key={i + 1} value={i + 1}>
                {i + 1}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <label>
        Steps
        <input
          type="number"
          data-testid="add-phase-steps"
          min={1}
          max={100000}
          value={steps}
          aria-invalid={problem !== undefined || undefined}
          onChange={(event) => {
            setSteps(event.target.value)
            setProblem(undefined)
          }}
        />
      </label>
      {is_busy ? (
        <button
          type="button"
          className="primary"
          data-testid="insert-now"
          title="The present phase ends after the step in flight, and this one begins"
          onClick={() =>
            act('begins now', steer({ kind: 'insert_phase', phase: phase(present + 1) }))
          }
        >
          Begin now
        </button>
      ) : null}
      <button
        type="button"
        data-testid="append-phase"
        onClick={() => act('added at the end', appendPhase(phase(experiment.phases.length)))}
      >
        Add at the end
      </button>
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}
