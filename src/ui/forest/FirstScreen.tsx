// What the page opens with: the picture, one sentence and one button. While there is a run, the picture alone.
import { Play } from 'lucide-react'
import { train } from '../../lab/page/client/controls.ts'
import type { LabState } from '../../lab/page/store.ts'
import { lazyPart } from '../base/page/lazy_part.tsx'
import { useLab } from '../base/run.ts'
import { useShown } from '../base/shown.ts'
import { canToggle } from '../palette/actions.ts'
import './forest.css'

const Forest = lazyPart(async () => (await import('./Forest.tsx')).Forest, {
  name: 'The picture',
  fallback: null,
  className: 'forest-missing',
})

const selectHasRun = ({ run_experiment }: LabState) => run_experiment !== undefined
const selectHasGpu = ({ adapter }: LabState) => adapter !== undefined

export function FirstScreen() {
  const has_run = useShown(selectHasRun)
  const has_gpu = useLab(selectHasGpu)
  const can_train = useLab(canToggle)
  return (
    <section
      className={has_run ? 'card forest has-run' : 'card forest'}
      aria-label="The model as a forest"
    >
      <Forest />
      {has_run ? null : (
        <div className="forest-says">
          <p>
            Every layer of a language model already has a policy of its own. Train one here, and see
            which of them the light reaches first.
          </p>
          <button
            type="button"
            className="primary"
            data-testid="train-here"
            disabled={!can_train || !has_gpu}
            onClick={train}
          >
            <Play className="icon" aria-hidden="true" /> Train on this machine
          </button>
        </div>
      )}
    </section>
  )
}
