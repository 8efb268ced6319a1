// Draws the suggestion below the layer in a phase’s settings, where there is one that it does not
// follow.
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { isFromStart, layerFor } from '../../../record/diagnosis/inner_layer.ts'
import { useLab } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { putLayer, selectRlStart, useChanges } from './changes.ts'

const selectSettings = (state: LabState) => state.experiment
const selectThreshold = ({ ffn_threshold }: UiState) => ffn_threshold

export function SuggestedFor({ index }: { index: number }) {
  const changes = useChanges()
  const rlStart = useShown(selectRlStart)
  const threshold = useStore(uiStore, selectThreshold)
  const { phases, model } = useLab(selectSettings)
  // At the end of a run the rule says which layer adds entropy then, not which to train first.
  const isKnown = changes !== undefined && isFromStart(changes, rlStart)
  const layer = isKnown ? layerFor(changes, threshold)?.layer : undefined
  const phase = phases[index]
  if (phase?.kind !== 'rl' || layer === undefined || layer >= model.num_hidden_layers) return null
  if (phase.target_layer === layer) return null
  return (
    <p className="suggested-for">
      <span className="soft">Suggested layer: {layer}</span>{' '}
      <button
        type="button"
        className="plain setting-link"
        aria-label={`Train layer ${layer} in phase ${index + 1}`}
        onClick={() => putLayer(layer, index)}
      >
        Train it
      </button>
    </p>
  )
}
