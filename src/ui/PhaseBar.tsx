// Where the run is: its phases in proportion to their steps.
import type { LabState } from '../lab/store.ts'
import { phaseMark } from './charts/geometry.ts'
import { phaseTarget, shownPhases, useLab, useLastLayer } from './run.ts'

const selectPhase = (state: LabState) => state.phase
const selectPhaseStep = (state: LabState) => state.phase_step
const selectSwitches = (state: LabState) => state.phase_switches
const selectHasBegun = ({ run_experiment }: LabState) => run_experiment !== undefined
const selectIsFinished = ({ status }: LabState) => status === 'finished'

export function PhaseBar() {
  const phases = useLab(shownPhases)
  const last_layer = useLastLayer()
  const current = useLab(selectPhase)
  const phase_step = useLab(selectPhaseStep)
  const switches = useLab(selectSwitches)
  const has_begun = useLab(selectHasBegun)
  const is_finished = useLab(selectIsFinished)
  const total = phases.reduce((sum, phase) => sum + phase.steps, 0)
  return (
    <ol className="phases" aria-label="Phases" data-testid="phases">
      {phases.map((phase, i) => {
        const began = switches.find((s) => s.phase === i)
        const ended = switches.find((s) => s.phase === i + 1)
        const is_current = has_begun && i === current && !is_finished
        const done =
          has_begun && i < current
            ? (ended?.step ?? 0) - (began?.step ?? 0)
            : i === current
              ? phase_step
              : 0
        const share = has_begun ? Math.min(1, done / phase.steps) : 0
        return (
          <li
            key={`${i} ${phase.name}`}
            className={is_current ? 'phase current' : 'phase'}
            aria-current={is_current ? 'step' : undefined}
            // A short phase keeps room for its number.
            style={{ flexGrow: phase.steps / total }}
            title={`${i + 1} ${phase.name}: ${phaseTarget(phase, last_layer)}, ${phase.steps} steps`}
          >
            <span className="phase-track">
              <span className="phase-done" style={{ width: `${share * 100}%` }} />
            </span>
            <span className="phase-name" data-testid={is_current ? 'phase-name' : undefined}>
              {phaseMark(i + 1)} {phase.name}
            </span>
            <span className="phase-note soft">
              {has_begun && done > 0 ? `${done} of ${phase.steps}` : `${phase.steps} steps`}
              {phase.kind === 'rl' ? `, layer ${phase.target_layer}` : ''}
              {ended?.reason === 'next_phase' ? ', ended by hand' : ''}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
