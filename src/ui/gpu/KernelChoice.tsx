// Which kernels the run's matrix products use.
import type { LabState } from '../../lab/page/store.ts'
import { useLab } from '../base/run.ts'
import { BreakableName } from './BreakableName.tsx'

const selectMatmul = (state: LabState) => state.matmul
const selectIsPinned = ({ run_experiment }: LabState) => !!run_experiment?.kernels
const selectIsPrepared = ({ status, run_experiment }: LabState) =>
  run_experiment !== undefined && status !== 'preparing' && status !== 'failed'

/** Shown because the choice is part of what decides a run's bits. */
export function KernelChoice() {
  const matmul = useLab(selectMatmul)
  const is_pinned = useLab(selectIsPinned)
  const is_prepared = useLab(selectIsPrepared)
  if (!matmul)
    return is_prepared ? (
      <p className="soft" data-testid="kernels">
        Matrix products run on the default kernels.
      </p>
    ) : null
  return (
    <details className="kernel-choice" data-testid="kernels">
      <summary>
        Matrix products run on kernels{' '}
        {is_pinned ? 'that the experiment pins' : 'tuned for this adapter'}
      </summary>
      <p className="soft">
        {is_pinned
          ? 'Nothing was measured. Sizes that are not listed use their default; * means every other size.'
          : 'Measured once, for about a second, and remembered by this browser, so that the same experiment gives the same bits again; sizes that were not reached keep their default.'}{' '}
        Sizes are out [m, n], summed over k.
      </p>
      <dl>
        {Object.entries(matmul).map(([shape_class, variant]) => (
          <div key={shape_class}>
            <dt>
              <BreakableName name={shape_class} />
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
