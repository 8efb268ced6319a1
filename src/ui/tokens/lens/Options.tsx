// Asks which text the lens looks at, how it reads the states, and which step it compares with.
import { shownText } from '../../../host/protocol/token_text.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { READ } from '../../plot/reads.ts'
import { useIsLiving } from '../../shown/rested.ts'
import {
  type Compare,
  type LensText,
  type LensView,
  lensStore,
  lookAway,
  useLens,
} from './store.ts'

const selectView = (view: LensView) => view
const set = lensStore.setState

const origin = ({ since, isOfOther }: LensText) =>
  since === undefined ? '' : isOfOther ? ' (of another run)' : ` (of step ${since})`

const textName = (text: LensText) =>
  `${shownText(text.sample.prompt)} ${shownText(text.sample.response)}${origin(text)}`

const COMPARE: Readonly<Record<Compare, string>> = {
  alone: 'alone',
  beside: 'beside',
  difference: 'difference from',
}

function TextChoice({
  texts,
  chosen,
}: {
  texts: readonly LensText[]
  chosen: LensText | undefined
}) {
  // Where no run is on, nothing is measured that could be stopped.
  const isOn = useNextObserved() !== undefined
  const isMeasured = useIsLiving() && isOn
  const heldOut = texts.filter(({ since }) => since === undefined)
  const sent = texts.filter(({ since }) => since !== undefined)
  const options = (list: readonly LensText[]) =>
    list.map((text) => (
      <option key={text.key} value={text.key}>
        {textName(text)}
      </option>
    ))
  return (
    <>
      <label>
        Text
        <select
          data-testid="lens-text"
          value={chosen?.key ?? ''}
          onChange={({ target }) => set({ chosen: target.value, position: undefined, t: 0 })}
        >
          {heldOut.length > 0 ? (
            <optgroup label="Held-out prompts with their right answers">
              {options(heldOut)}
            </optgroup>
          ) : null}
          {sent.length > 0 ? (
            <optgroup label="Sent from the token inspector">{options(sent)}</optgroup>
          ) : null}
        </select>
      </label>
      {isMeasured && chosen?.since !== undefined ? (
        <button type="button" data-testid="lens-forget" onClick={() => lookAway(chosen.key)}>
          Stop measuring it
        </button>
      ) : null}
    </>
  )
}

export function Options(props: {
  texts: readonly LensText[]
  chosen: LensText | undefined
  steps: readonly number[]
  other: number | undefined
}) {
  const { texts, chosen, steps, other } = props
  const { kind, compare } = useLens(selectView)
  return (
    <div className="lens-options">
      <TextChoice texts={texts} chosen={chosen} />
      <fieldset>
        <legend>Read</legend>
        {(['raw', 'normed'] as const).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="lens-kind"
              data-testid={`lens-${name}`}
              checked={kind === name}
              onChange={() => set({ kind: name })}
            />
            {READ[name]}
          </label>
        ))}
      </fieldset>
      <label>
        Show
        <select
          data-testid="lens-compare"
          value={compare}
          onChange={({ target }) => set({ compare: target.value as Compare })}
        >
          {Object.entries(COMPARE).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {compare === 'alone' ? null : (
        <label>
          At step
          <select
            data-testid="lens-other"
            disabled={steps.length === 0}
            value={other ?? ''}
            onChange={({ target }) => set({ other: Number(target.value) })}
          >
            {steps.map((step) => (
              <option key={step} value={step}>
                {step === 0 ? '0, before training' : step}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}
