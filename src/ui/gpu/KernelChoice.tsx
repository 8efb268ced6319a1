// Shows which kernels the run's matrix products use, and what is measured of others beside it.
import { steeredKernels } from '../../document/experiment/steering/steered_kernels.ts'
import type { LabState } from '../../page/state/store.ts'
import { useLab } from '../shown/run.ts'
import { BreakableName } from './BreakableName.tsx'

const selectMatmul = (state: LabState) => state.matmul
const selectMeasuring = (state: LabState) => state.measuring
const selectIsPinned = ({ runExperiment }: LabState) => !!runExperiment?.kernels
/** The step after which other kernels took effect last. */
const selectChangedAfter = ({ steered }: LabState) =>
  steered.findLast(({ entry, refused }) => entry.kind === 'kernels' && refused === undefined)?.entry
const selectIsPrepared = ({ status, runExperiment }: LabState) =>
  runExperiment !== undefined && status !== 'preparing' && status !== 'failed'

/** What is measured now, or was, and when it takes effect. */
function Measuring() {
  const measuring = useLab(selectMeasuring)
  const changed = useLab(selectChangedAfter)
  const count = changed ? Object.keys(steeredKernels([changed])).length : 0
  return (
    <>
      {measuring && !measuring.isOver && (
        <p className="soft">
          Between steps other kernels are measured: {measuring.done} of {measuring.of}. Faster ones
          take effect when the next phase begins, and from the first step of the next run.
        </p>
      )}
      {changed && (
        <p className="soft">
          After step {changed.step}, {count} of them changed to what was measured as faster here. A
          link or file of this run repeats both.
        </p>
      )}
    </>
  )
}

/** Shown because the choice is part of what decides a run's bits. */
export function KernelChoice() {
  const matmul = useLab(selectMatmul)
  const isPinned = useLab(selectIsPinned)
  const isPrepared = useLab(selectIsPrepared)
  if (!matmul)
    return isPrepared ? (
      <p className="soft" data-testid="kernels">
        Matrix products run on the default kernels.
      </p>
    ) : null
  return (
    <details className="kernel-choice" data-testid="kernels">
      <summary>
        Matrix products run on kernels{' '}
        {isPinned ? 'that the experiment pins' : 'chosen for this adapter'}
      </summary>
      <p className="soft">
        {isPinned
          ? 'Nothing is measured. Sizes that are not listed use their default; * means every other size.'
          : 'What was measured here in an earlier run is remembered by this browser. The first run on an adapter begins with what suits GPUs like it, so that no step waits.'}{' '}
        Sizes are out [m, n], summed over k.
      </p>
      <Measuring />
      <dl>
        {Object.entries(matmul).map(([shapeClass, variant]) => (
          <div key={shapeClass}>
            <dt>
              <BreakableName name={shapeClass} />
            </dt>
            <dd>
              <BreakableName name={variant} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
