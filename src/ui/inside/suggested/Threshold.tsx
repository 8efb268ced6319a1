// Draws the threshold of the suggested layer, and says what is wrong with one that is typed.
import { useId, useState } from 'react'
import { useStore } from 'zustand'
import {
  HIGHEST_THRESHOLD,
  isThreshold,
  setPreference,
  type UiState,
  uiStore,
} from '../../shown/store.ts'

const selectThreshold = ({ ffn_threshold }: UiState) => ffn_threshold

/** What is typed is kept as it is until it holds, as in the settings. */
export function Threshold() {
  const threshold = useStore(uiStore, selectThreshold)
  const [draft, setDraft] = useState<string>()
  return (
    <ThresholdField
      threshold={threshold}
      draft={draft}
      onType={(text) => {
        const value = text.trim() === '' ? Number.NaN : Number(text)
        setDraft(isThreshold(value) ? undefined : text)
        if (isThreshold(value)) setPreference({ ffn_threshold: value })
      }}
      onKeep={() => setDraft(undefined)}
    />
  )
}

export function ThresholdField(props: {
  readonly threshold: number
  /** What was typed and does not hold. */
  readonly draft: string | undefined
  readonly onType: (text: string) => void
  readonly onKeep: () => void
}) {
  const { threshold, draft, onType, onKeep } = props
  const id = useId()
  const isInvalid = draft !== undefined
  return (
    <>
      <label className="suggested-threshold">
        Threshold
        <input
          type="number"
          data-testid="ffn-threshold"
          min={0}
          max={HIGHEST_THRESHOLD}
          step={0.01}
          aria-invalid={isInvalid || undefined}
          aria-describedby={isInvalid ? id : undefined}
          value={draft ?? String(threshold)}
          onChange={({ target }) => onType(target.value)}
        />
        <span className="soft">nats</span>
      </label>
      {isInvalid ? (
        <p className="problem" role="alert" id={id} data-testid="threshold-problem">
          The threshold is a number from 0 to {HIGHEST_THRESHOLD}.
          <button type="button" className="plain" onClick={onKeep}>
            keep {threshold}
          </button>
        </p>
      ) : null}
    </>
  )
}
