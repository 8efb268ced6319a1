// Lets a person choose whether runs are looked at for later and whether their parts are switched
// off, and says what that costs.
import { useStore } from 'zustand'

import { observeEvery } from '../../page/client/observing.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { useLab } from '../shown/run.ts'
import { setPreference, type UiState, uiStore } from '../shown/store.ts'
import { askLiveParts, livePartsStore } from '../touch/parts/live_parts.ts'

const selectMoments = (state: UiState) => state.moments_on
const selectParts = ({ isOn }: ReturnType<typeof livePartsStore.getState>) => isOn

export function MomentsChoice() {
  const isMeasuring = useStore(uiStore, selectMoments)
  const every = useLab(observeEvery)
  const switchesParts = useStore(livePartsStore, selectParts)
  // Nothing trains there, so there is nothing to choose.
  if (useLab(selectLacksGpu)) return null
  return (
    <section className="card moments-choices" aria-labelledby="moments-title">
      <h2 id="moments-title">While a run trains</h2>
      <label className="check">
        <input
          type="checkbox"
          data-testid="moments-on"
          checked={isMeasuring}
          onChange={(event) => setPreference({ moments_on: event.target.checked })}
        />
        <span>
          Look at every run in its moments
          <span className="soft">
            {' '}
            (validations, ends of phases, the end), for at most 5 % of its work, and in every step
            of a short inner phase. What is in view here is looked at as well
            {every > 1 ? `, in one step of ${every}, as a software adapter is slow` : ''}.
          </span>
        </span>
      </label>
      <label className="check">
        <input
          type="checkbox"
          data-testid="live-parts-on"
          checked={switchesParts}
          onChange={(event) => askLiveParts(event.target.checked)}
        />
        <span>
          Switch each part off while a run trains{' '}
          <span className="soft">
            (after some of its validations, for at most 4 of those 5 %; the moments have the rest).
            What each part does is then shown over the steps.
          </span>
        </span>
      </label>
    </section>
  )
}
