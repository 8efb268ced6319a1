// Suggests the layer that an inner phase should train: what the feed-forwards do to the entropy,
// and the way into the settings.
import { useId, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { editField } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import {
  innerPhases,
  type LayerChanges,
  layerFor,
  withInnerPhase,
} from '../../../record/diagnosis/inner_layer.ts'
import { Fold } from '../../part/Fold.tsx'
import { READ, reads, tokensOf } from '../../plot/reads.ts'
import { selectFirstOpenPhase, useLab, useLastLayer } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import { isThreshold, setPreference, type UiState, uiStore } from '../../shown/store.ts'
import { putLayer, selectRlStart, tell, useChanges } from './changes.ts'
import { changeText, changeWidth } from './suggested.ts'
import { Unmeasured } from './Unmeasured.tsx'

const selectSettings = (state: LabState) => state.experiment
const selectThreshold = ({ ffn_threshold }: UiState) => ffn_threshold

function Threshold() {
  const threshold = useStore(uiStore, selectThreshold)
  const [draft, setDraft] = useState<string>()
  const isInvalid = draft !== undefined
  return (
    <label className="suggested-threshold">
      Threshold
      <input
        type="number"
        data-testid="ffn-threshold"
        min={0}
        max={10}
        step={0.01}
        aria-invalid={isInvalid || undefined}
        value={draft ?? String(threshold)}
        onChange={({ target }) => {
          const value = target.value.trim() === '' ? Number.NaN : Number(target.value)
          setDraft(isThreshold(value) ? undefined : target.value)
          if (isThreshold(value)) setPreference({ ffn_threshold: value })
        }}
        onBlur={() => setDraft(undefined)}
      />
      <span className="soft">nats</span>
    </label>
  )
}

/** One row per layer: what its feed-forward does to the entropy. */
function Changes({ changes, layer }: { changes: LayerChanges; layer: number | undefined }) {
  const threshold = useStore(uiStore, selectThreshold)
  const { delta_h_ffn } = changes
  return (
    <table className="layer-changes" data-testid="layer-changes">
      <thead>
        <tr>
          <th scope="col">layer</th>
          <th scope="col">ΔH_FFN, nats</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {delta_h_ffn.map((change, l) => (
          <tr
            // Layers have no other identity than their depth.
            key={l}
            className={l + 1 === layer ? 'suggested-row' : undefined}
          >
            <th scope="row">{l + 1}</th>
            <td>{changeText(change)}</td>
            <td aria-hidden="true">
              <span
                className={change > threshold ? 'change-bar raises' : 'change-bar'}
                style={changeWidth(change, delta_h_ffn)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Puts the layer into a phase that trains an inner one, or adds such a phase. */
function Apply({ layer }: { layer: number }) {
  const settings = useLab(selectSettings)
  const first = useLab(selectFirstOpenPhase)
  const inner = innerPhases(settings)
  const [chosen, setChosen] = useState<number>()
  const id = useId()
  const place = chosen !== undefined && inner.includes(chosen) ? chosen : (inner[0] ?? -1)
  const phases = useMemo(() => withInnerPhase(settings, layer, first), [settings, layer, first])
  const add = () =>
    phases && tell(editField('phases', phases), `A phase that trains layer ${layer} was added.`)
  if (layer >= settings.model.num_hidden_layers)
    return <p className="soft">The model of the settings has no inner layer {layer}.</p>
  const target = settings.phases[place]
  const isSet = target?.kind === 'rl' && target.target_layer === layer
  return (
    <div className="suggested-apply">
      {inner.length === 0 ? null : (
        <>
          <label htmlFor={id}>Phase</label>
          <select
            id={id}
            data-testid="suggested-phase"
            value={place}
            onChange={({ target: { value } }) => setChosen(Number(value))}
          >
            {inner.map((index) => {
              const phase = settings.phases[index]
              return (
                <option key={index} value={index}>
                  {index + 1}: layer {phase.kind === 'rl' ? phase.target_layer : ''}
                </option>
              )
            })}
          </select>
          <button
            type="button"
            data-testid="suggested-use"
            disabled={isSet}
            onClick={() => putLayer(layer, place)}
          >
            {isSet ? `Trains layer ${layer}` : `Train layer ${layer} there`}
          </button>
        </>
      )}
      <button
        type="button"
        data-testid="suggested-add"
        disabled={!phases}
        title="Before the phase that trains the whole model"
        onClick={add}
      >
        Add a phase for layer {layer}
      </button>
    </div>
  )
}

function Measured({ changes }: { changes: LayerChanges }) {
  const threshold = useStore(uiStore, selectThreshold)
  const rlStart = useShown(selectRlStart)
  const suggested = layerFor(changes, threshold)
  const layer = suggested?.layer
  return (
    <div className="suggested-body">
      <Changes changes={changes} layer={layer} />
      <div className="suggested-says">
        <p className="soft" data-testid="suggested-reads">
          {reads(READ.feed_forward, tokensOf(changes.rows))}
        </p>
        <p>
          <b data-testid="suggested-layer">Suggested layer: {layer ?? 'none'}</b>
          <span className="soft">, by what was measured after step {changes.step}</span>
        </p>
        <p data-testid="suggested-why">{suggested?.why}</p>
        <p className="soft">
          Step {changes.step}
          {changes.step === rlStart
            ? ' is where reinforcement began, as a first phase finds it'
            : ''}
          . Later steps are in “Change of entropy in every layer”. The rule is that of the BuPO
          paper: the last layer whose feed-forward block still adds entropy (ΔH_FFN above the
          threshold).
        </p>
        <Threshold />
        {layer === undefined ? null : <Apply layer={layer} />}
      </div>
    </div>
  )
}

export function SuggestedLayer() {
  const changes = useChanges()
  const layers = useLastLayer()
  if (layers < 2) return null
  return (
    <Fold
      id="suggested"
      title="Which layer first?"
      about="The rule of the BuPO paper, asked of what was measured here."
      opens="wide"
    >
      <div className="suggested">{changes ? <Measured changes={changes} /> : <Unmeasured />}</div>
    </Fold>
  )
}
