// Lets a person choose whether runs are looked at for later, and says what that costs.
import { useStore } from 'zustand'
import { setPreference, type UiState, uiStore } from '../shown/store.ts'

const selectMoments = (state: UiState) => state.moments_on

export function MomentsChoice() {
  return (
    <label className="check moments-choice">
      <input
        type="checkbox"
        data-testid="moments-on"
        checked={useStore(uiStore, selectMoments)}
        onChange={(event) => setPreference({ moments_on: event.target.checked })}
      />
      <span>
        Look at every run in its moments{' '}
        <span className="soft">
          (validations, ends of phases, the end), for at most 5 % of its work, and in every step of
          a short inner phase. What is in view here is looked at as well.
        </span>
      </span>
    </label>
  )
}
