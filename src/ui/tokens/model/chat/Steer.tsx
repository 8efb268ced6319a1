// Steers what a model writes: a direction between two texts, the layer it is added after, and its
// strength, which may be moved while the model writes.
import { useState } from 'react'
import { useStore } from 'zustand'
import {
  directModel,
  type FirstDirection,
  openedModelStore,
  steerModel,
} from '../../../../page/opened/opened_model.ts'
import { formatNumber } from '../../../kit/format.ts'

/** Of a vector: beyond, every text breaks. */
const STRONGEST = 8

interface SteerProps {
  readonly isBusy: boolean
  /** Fills the fields until somebody types. */
  readonly first: FirstDirection | undefined
}

function Texts({ isBusy, first }: SteerProps) {
  const [toward, setToward] = useState(first?.toward ?? '')
  const [away, setAway] = useState(first?.away ?? '')
  const hasDirection = useStore(openedModelStore, ({ direction }) => direction !== undefined)
  return (
    <div className="chat-settings steer-texts">
      <label>
        <span>toward</span>
        <input
          data-testid="steer-toward"
          value={toward}
          onChange={({ target }) => setToward(target.value)}
        />
      </label>
      <label>
        <span>away from</span>
        <input
          data-testid="steer-away"
          value={away}
          onChange={({ target }) => setAway(target.value)}
        />
      </label>
      <button
        type="button"
        data-testid="steer-make"
        disabled={isBusy || toward === '' || away === ''}
        onClick={() => directModel(toward, away)}
      >
        Make the direction
      </button>
      {hasDirection ? (
        <button
          type="button"
          data-testid="steer-end"
          disabled={isBusy}
          onClick={() => directModel('', '')}
        >
          End it
        </button>
      ) : null}
    </div>
  )
}

interface PlaceProps {
  readonly sizes: readonly number[]
  readonly begins: number
}

function Place({ sizes, begins }: PlaceProps) {
  const [layer, setLayer] = useState(begins)
  const [strength, setStrength] = useState(0)
  const move = (place: { readonly layer: number; readonly strength: number }) => {
    setLayer(place.layer)
    setStrength(place.strength)
    steerModel(place)
  }
  return (
    <div className="chat-settings steer-place">
      <label>
        <span>added after layer</span>
        <select
          data-testid="steer-layer"
          value={layer}
          onChange={({ target }) => move({ layer: Number(target.value), strength })}
        >
          {sizes.map((_, l) => (
            // Layers have no other identity than their number.
            <option key={l} value={l}>
              {l}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>
          strength × {formatNumber(strength)} (size{' '}
          {formatNumber(Math.abs(strength) * sizes[layer])})
        </span>
        <input
          type="range"
          data-testid="steer-strength"
          min={-STRONGEST}
          max={STRONGEST}
          step={0.25}
          value={strength}
          onChange={({ target }) => move({ layer, strength: target.valueAsNumber })}
        />
      </label>
      {strength === 0 ? (
        <small className="soft">At 0 nothing is added: move the strength, then write.</small>
      ) : null}
    </div>
  )
}

/** Nothing is added until a direction is made and its strength is not 0. */
export function Steer({ isBusy, first }: SteerProps) {
  const direction = useStore(openedModelStore, (state) => state.direction)
  return (
    <details data-testid="steer">
      <summary>Steer it</summary>
      <p className="soft">
        The mean state of one text less that of another is added to the states after a layer. The
        strength may be moved while the model writes; the next tokens follow it. It misleads: small
        strengths do nothing, large ones break any text, and what goes with a text need not be what
        one means by it.
      </p>
      <Texts isBusy={isBusy} first={first} />
      {direction ? (
        <Place
          key={direction.join()}
          sizes={direction}
          begins={first?.layer ?? Math.floor(direction.length / 2)}
        />
      ) : null}
    </details>
  )
}
