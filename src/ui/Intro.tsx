// Before the first run: what pressing Train will do, said in words.
import { PRESETS } from '../lab/presets.ts'
import type { LabState } from '../lab/store.ts'
import { phaseTarget, shownPhases, useLab, useLastLayer } from './run.ts'

const selectIsEmpty = ({ status, run_experiment, error }: LabState) =>
  (status === 'idle' || status === 'loading') && run_experiment === undefined && !error
const selectPreset = (state: LabState) => state.preset_id

export function Intro() {
  const is_empty = useLab(selectIsEmpty)
  const phases = useLab(shownPhases)
  const last_layer = useLastLayer()
  const preset_id = useLab(selectPreset)
  if (!is_empty) return null
  const preset = PRESETS.find(({ id }) => id === preset_id)
  return (
    <section className="card intro" data-testid="intro">
      <h2>{preset?.name ?? 'Nothing has run yet'}</h2>
      {preset ? <p>{preset.summary}</p> : null}
      <p>
        <b>Train</b> runs {phases.length === 1 ? 'one phase' : `${phases.length} phases`} on this
        machine:{' '}
        {phases.map((phase, i) => (
          <span key={`${i} ${phase.name}`}>
            {i > 0 ? ', then ' : ''}
            {phase.steps} steps of <i>{phase.name}</i> ({phaseTarget(phase, last_layer)})
          </span>
        ))}
        . Nothing leaves the browser. Charts fill in as steps are computed.
      </p>
    </section>
  )
}
