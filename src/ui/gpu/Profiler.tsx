// Profiles a step on this GPU, and compares this GPU with others.
import { Gauge, Timer } from 'lucide-react'
import { benchmark, profileStep } from '../../page/client/controls.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { canProfile } from '../open/actions.ts'
import { selectIsBusy, selectStatus, useLab } from '../shown/run.ts'
import { KernelChoice } from './KernelChoice.tsx'
import { ProfileTables } from './ProfileTables.tsx'
import { ResultCards } from './ResultCards.tsx'

const selectProfile = (state: LabState) => state.profile
const selectIsProfiling = (state: LabState) => state.isProfiling
const selectBenchmark = (state: LabState) => state.benchmark
const selectAdapter = (state: LabState) => state.adapter

/** What the buttons do, or why they are off. */
function says(state: { lacksGpu: boolean; isFinished: boolean; isBusy: boolean }): string {
  if (state.lacksGpu) return 'Both need a GPU, and the browser gives the page none.'
  if (state.isFinished)
    return 'The run has ended. Train again and profile a step begins another one, measures its first step and pauses.'
  if (state.isBusy)
    return 'Measures one step: the time of every stage and kernel on the GPU. Its numbers stay the same, and other steps cost nothing extra.'
  return 'Benchmark measures this GPU, without a run, so that it can be compared with others. Profile the next step begins a run, measures where its first step spends its time, and pauses.'
}

function BenchmarkButton({ isMeasuring }: { readonly isMeasuring: boolean }) {
  const isBusy = useLab(selectIsBusy)
  const adapter = useLab(selectAdapter)
  return (
    <button
      type="button"
      data-testid="benchmark"
      disabled={isBusy || isMeasuring || !adapter}
      title={isBusy ? 'Reset the run first: the benchmark needs the whole GPU' : undefined}
      onClick={benchmark}
    >
      <Gauge className="icon" aria-hidden="true" /> Benchmark this GPU
    </button>
  )
}

export function Profiler() {
  const profile = useLab(selectProfile)
  const isProfiling = useLab(selectIsProfiling)
  const mayProfile = useLab(canProfile)
  const isBusy = useLab(selectIsBusy)
  const isFinished = useLab(selectStatus) === 'finished'
  const lacksGpu = useLab(selectLacksGpu)
  const asks = isFinished ? 'Train again and profile a step' : 'Profile the next step'
  const isMeasuring = useLab(selectBenchmark).status === 'running'
  // Before a run it is all that can be measured without one.
  const isFirst = !isFinished && !isBusy
  return (
    <section className="card profiler" aria-labelledby="profiler-title" data-testid="profiler">
      <div className="profiler-head">
        <h2 id="profiler-title">Profiler</h2>
        <div className="profiler-actions">
          {isFirst ? <BenchmarkButton isMeasuring={isMeasuring} /> : null}
          <button
            type="button"
            data-testid="profile-step"
            disabled={!mayProfile || isProfiling || isMeasuring}
            onClick={profileStep}
          >
            <Timer className="icon" aria-hidden="true" />
            {isProfiling ? 'Measuring a step' : asks}
          </button>
          {isFirst ? null : <BenchmarkButton isMeasuring={isMeasuring} />}
        </div>
      </div>
      <ResultCards />
      {profile ? (
        <ProfileTables {...profile} />
      ) : (
        <p className="soft">{says({ lacksGpu, isFinished, isBusy })}</p>
      )}
      <KernelChoice />
    </section>
  )
}
