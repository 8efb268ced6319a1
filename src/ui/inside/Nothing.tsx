// Shows, before a run, what fills the figures, and what can be looked into at once.
import { Play, Search } from 'lucide-react'
import { train } from '../../page/client/controls.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { canToggle } from '../open/actions.ts'
import { useIsAtRest } from '../replay/at_rest.ts'
import { selectHasRun, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { openModels } from '../tokens/model/model_files.ts'

export function Nothing() {
  const hasRun = usePresent(selectHasRun)
  const canTrain = useLab(canToggle)
  const lacksGpu = useLab(selectLacksGpu)
  const isAtRest = useIsAtRest()
  // Neither works without a GPU.
  if (hasRun || lacksGpu) return null
  return (
    <section className="card look-now" aria-label="What fills the figures">
      {/* Of the recording it is said above that it is one, and how to train. */}
      {isAtRest ? null : (
        <p>
          Train, and every figure fills: at the ends of phases, at validations, and in each step
          while it is in view. Or look into a model that comes with the page.
        </p>
      )}
      <div className="look-now-actions">
        {isAtRest ? (
          <span>These figures are of a small model. Others come with the page:</span>
        ) : (
          <button
            type="button"
            data-testid="inside-train"
            disabled={!canTrain}
            onClick={() => train()}
          >
            <Play className="icon" aria-hidden="true" /> Train
          </button>
        )}
        <button type="button" data-testid="inside-models" onClick={openModels}>
          <Search className="icon" aria-hidden="true" /> Look into a model
        </button>
      </div>
    </section>
  )
}
