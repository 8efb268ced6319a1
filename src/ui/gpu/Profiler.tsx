// Profiles a step on this GPU, and compares this GPU with others.
import { Gauge, Timer } from 'lucide-react'
import { benchmark, profileStep } from '../../page/client/controls.ts'
import type { LabState } from '../../page/state/store.ts'
import { canProfile } from '../open/actions.ts'
import { selectIsBusy, selectStatus, useLab } from '../shown/run.ts'
import { KernelChoice } from './KernelChoice.tsx'
import { ProfileTables } from './ProfileTables.tsx'
import { ResultCards } from './ResultCards.tsx'

const selectProfile = (state: LabState) => state.profile
const selectIsProfiling = (state: LabState) => state.isProfiling
const selectBenchmark = (state: LabState) => state.benchmark
const selectAdapter = (state: LabState) => state.adapter

export function Profiler() {
  const profile = useLab(selectProfile)
  const isProfiling = useLab(selectIsProfiling)
  const mayProfile = useLab(canProfile)
  const isBusy = useLab(selectIsBusy)
  const isFinished = useLab(selectStatus) === 'finished'
  const asks = isFinished ? 'Train again and profile a step' : 'Profile the next step'
  const adapter = useLab(selectAdapter)
  const isMeasuring = useLab(selectBenchmark).status === 'running'
  return (
    <section className="card profiler" aria-labelledby="profiler-title" data-testid="profiler">
      <div className="profiler-head">
        <h2 id="profiler-title">Profiler</h2>
        <div className="profiler-actions">
          <button
            type="button"
            data-testid="profile-step"
            disabled={!mayProfile || isProfiling || isMeasuring}
            onClick={profileStep}
          >
            <Timer className="icon" aria-hidden="true" />
            {isProfiling ? 'Measuring a step' : asks}
          </button>
          <button
            type="button"
            data-testid="benchmark"
            disabled={isBusy || isMeasuring || !adapter}
            title={isBusy ? 'Reset the run first: the benchmark needs the whole GPU' : undefined}
            onClick={benchmark}
          >
            <Gauge className="icon" aria-hidden="true" /> Benchmark this GPU
          </button>
        </div>
      </div>
      {profile ? (
        <ProfileTables {...profile} />
      ) : (
        <p className="soft">
          {isFinished
            ? 'The run has ended. Train again and profile a step begins another one, measures its first step and pauses.'
            : isBusy
              ? 'Measures one step: the time of every stage and kernel on the GPU. Its numbers stay the same, and other steps cost nothing extra.'
              : 'Shows where a step spends its time on the GPU. Profile the next step begins a run, measures its first step and pauses.'}
        </p>
      )}
      <KernelChoice />
      <ResultCards />
    </section>
  )
}
