// Suggests the layer that an inner phase should train: what the feed-forwards do to the entropy,
// and the way into the settings.
import { useId, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { editField } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import {
  innerPhases,
  isFromStart,
  type LayerChanges,
  layerFor,
  withInnerPhase,
} from '../../../record/diagnosis/inner_layer.ts'
import { Words } from '../../glossary/Words.tsx'
import { useRecordOver } from '../../look/kept_states.ts'
import { useOpenedEntry } from '../../open/opened_run.ts'
import { takeSettings } from '../../open/take_settings.ts'
import { Fold } from '../../part/Fold.tsx'
import { READ, reads, tokensOf } from '../../plot/reads.ts'
import { selectFirstOpenPhase, useLab, useLastLayer } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { putLayer, selectRlStart, tell, useChanges, useLaterChanges } from './changes.ts'
import { changeText, changeWidth, laterSays, plainSays } from './suggested.ts'
import { Threshold } from './Threshold.tsx'
import { MeasureKept, Unmeasured } from './Unmeasured.tsx'

const selectSettings = (state: LabState) => state.experiment
const selectThreshold = ({ ffn_threshold }: UiState) => ffn_threshold

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

/** Puts the layer into a phase that trains an inner one, or adds such a phase: of the settings, or
 * of the past run that is shown, whose settings are then taken. */
function Apply({ layer }: { layer: number }) {
  const past = useOpenedEntry()
  const present = useLab(selectSettings)
  const settings = past?.header.document ?? present
  const open = useLab(selectFirstOpenPhase)
  const first = past ? 0 : open
  const phases = useMemo(() => withInnerPhase(settings, layer, first), [settings, layer, first])
  const isLog = past?.header.source !== undefined
  if (isLog) return <p className="soft">A log does not say all settings of its run.</p>
  if (layer >= settings.model.num_hidden_layers)
    return <p className="soft">The model of the settings has no inner layer {layer}.</p>
  const then = (change: () => void) => {
    if (!past || takeSettings(past.id)) change()
  }
  return (
    <div className="suggested-apply">
      {past ? (
        <p className="soft" data-testid="suggested-past">
          A button puts the settings of this run into the form, with that change.
        </p>
      ) : null}
      <InPhase
        layer={layer}
        settings={settings}
        onUse={(place) => then(() => putLayer(layer, place))}
      />
      <button
        type="button"
        data-testid="suggested-add"
        disabled={!phases}
        title="Before the phase that trains the whole model"
        onClick={() =>
          then(() =>
            tell(editField('phases', phases), `A phase that trains layer ${layer} was added.`),
          )
        }
      >
        Add a phase for layer {layer}
      </button>
    </div>
  )
}

/** The choice among the phases that train an inner layer. */
function InPhase(props: {
  readonly layer: number
  readonly settings: Experiment
  readonly onUse: (place: number) => void
}) {
  const { layer, settings, onUse } = props
  const inner = innerPhases(settings)
  const [chosen, setChosen] = useState<number>()
  const id = useId()
  const place = chosen !== undefined && inner.includes(chosen) ? chosen : inner[0]
  if (place === undefined) return null
  const target = settings.phases[place]
  const isSet = target?.kind === 'rl' && target.target_layer === layer
  return (
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
        onClick={() => onUse(place)}
      >
        {isSet ? `Trains layer ${layer}` : `Train layer ${layer} there`}
      </button>
    </>
  )
}

/** From which measurement the rule is asked, and what that is worth. */
function From({ step, rlStart }: { readonly step: number; readonly rlStart: number | undefined }) {
  if (rlStart === undefined || step < rlStart)
    return <p className="soft">Measured after step {step}, before reinforcement began.</p>
  return (
    <p className="soft">
      Step {step} is where reinforcement began, as a first phase finds it. Later steps are in
      “Change of entropy in every layer”.
    </p>
  )
}

/** Of a measurement that came too late. */
function Late({ step, rlStart }: { readonly step: number; readonly rlStart: number }) {
  return (
    <p data-testid="suggested-late">
      That is with {step - rlStart} steps of reinforcement behind it: which layer to train first is
      asked of the model before that.
    </p>
  )
}

const RULE =
  'The rule is that of the BuPO paper: the last layer whose feed-forward block still adds entropy (ΔH_FFN above the threshold).'

function Measured({ changes }: { changes: LayerChanges }) {
  const threshold = useStore(uiStore, selectThreshold)
  const rlStart = useShown(selectRlStart)
  const isStart = isFromStart(changes, rlStart)
  const later = useLaterChanges(changes)
  const record = useRecordOver()
  const suggested = layerFor(changes, threshold)
  const layer = suggested?.layer
  return (
    <div className="suggested-body">
      <Changes changes={changes} layer={layer} />
      <div className="suggested-says">
        <p>
          <b data-testid="suggested-layer">{plainSays(changes, rlStart, threshold)}</b>
        </p>
        {isStart || rlStart === undefined ? null : <Late step={changes.step} rlStart={rlStart} />}
        {isStart || record === undefined ? null : (
          <MeasureKept key={record} record={record} until={rlStart} />
        )}
        {later ? (
          <p className="soft" data-testid="suggested-later">
            {laterSays(later, threshold)}
          </p>
        ) : null}
        {layer === undefined ? null : <Apply layer={layer} />}
        <details className="suggested-more">
          <summary>The rule and its threshold</summary>
          <p className="soft" data-testid="suggested-reads">
            <Words text={reads(READ.feed_forward, tokensOf(changes.rows))} />
          </p>
          <p data-testid="suggested-why">{suggested?.why}</p>
          {isStart ? <From step={changes.step} rlStart={rlStart} /> : null}
          <p className="soft">
            <Words text={RULE} />
          </p>
          <Threshold />
        </details>
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
      step={changes?.step}
      opens="wide"
    >
      <div className="suggested">{changes ? <Measured changes={changes} /> : <Unmeasured />}</div>
    </Fold>
  )
}
