// Lists updates that were left out because a gradient was not finite.
import { useStore } from 'zustand'
import { skippedUpdates } from '../shown/metrics.ts'
import { seriesOf } from '../shown/run.ts'
import { type UiState, uiStore } from '../shown/store.ts'

const selectFrame = (state: UiState) => state.frame

export function Skipped() {
  useStore(uiStore, selectFrame)
  const skipped = skippedUpdates(seriesOf('training/skipped_updates'))
  if (!skipped) return null
  const { count, lastStep } = skipped
  return (
    <p className="card skipped" role="alert" data-testid="skipped">
      <strong>
        {count} {count === 1 ? 'update was' : 'updates were'} skipped, the last in step {lastStep}.
      </strong>{' '}
      The gradient was not finite, so the weights were left as they were. If this continues, reset
      and train with a lower learning rate.
    </p>
  )
}
