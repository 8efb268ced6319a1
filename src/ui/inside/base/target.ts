// Chooses the layer of a figure where nobody has.

import { innerLayer } from '../../../document/experiment/resolve.ts'
import type { LabState } from '../../../page/state/store.ts'
import { decidingChanges, layerFor } from '../../../record/diagnosis/inner_layer.ts'
import { shownExperiment, shownPhases } from '../../shown/run.ts'

/** The inner layer that the running phase trains, else the first that any phase does, else the
 * suggested one, else the middle. `threshold` as for the suggestion, nats. */
export function targetLayer(state: LabState, threshold: number): number {
  const { num_hidden_layers: L } = shownExperiment(state).model
  const trained = innerLayer(shownExperiment(state), state.phase)
  if (trained !== undefined) return trained
  const phases = shownPhases(state)
  const rlStart = state.phase_switches.find(({ phase }) => phases[phase]?.kind === 'rl')?.step
  const changes = decidingChanges(state.series, L, rlStart)
  return (changes && layerFor(changes, threshold)?.layer) ?? Math.max(1, Math.floor(L / 2))
}

/** The layer of a figure of a run that is not measured any more: the same where the divergence from
 * it was measured, else the last one that it was measured from. */
export function measuredTarget(state: LabState, threshold: number): number {
  const wanted = targetLayer(state, threshold)
  const measured = state.kept.observations.items.flatMap(({ item }) =>
    item.mean.kl_of_layer === undefined ? [] : [item.layer],
  )
  return measured.includes(wanted) ? wanted : (measured.at(-1) ?? wanted)
}
