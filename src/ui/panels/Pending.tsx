import { reset, train } from '../../lab/client.ts'
import { selectIsBusy, selectIsEdited, useLab } from '../run.ts'

/** The settings are no longer those of the run on screen: says so, and offers the one way to apply them. */
export function Pending() {
  const is_busy = useLab(selectIsBusy)
  const is_edited = useLab(selectIsEdited)
  if (!is_busy || !is_edited) return null
  return (
    <section className="card notices" aria-label="Changed settings" data-testid="pending">
      <p>The settings differ from the run on screen, which goes on as it began.</p>
      <button
        type="button"
        id="apply"
        data-testid="apply"
        onClick={() => {
          reset()
          train()
        }}
      >
        Reset to apply
      </button>
    </section>
  )
}
