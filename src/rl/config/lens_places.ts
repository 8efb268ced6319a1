// Says which layers a phase reads through a translator.
import { type LensPlace, type Readout, translatedAs } from '../../model/layout/readout.ts'
import { innerStudents } from './inner.ts'
import type { Phase } from './phase.ts'

/** Every policy that a phase trains, its own first, and how it is read. */
function policiesOf(
  phase: Phase,
): readonly { readonly layer: number; readonly readout?: Readout | undefined }[] {
  if (phase.kind === 'sft' || phase.kind === 'reward_model') return []
  const { target_layer: layer, target_readout: readout } = phase
  if (phase.kind === 'rl') return [{ layer, readout }, ...innerStudents(phase.actor.inner)]
  const along = phase.kind === 'distill' ? phase.layers : []
  return [layer, ...along].map((one) => ({ layer: one, readout }))
}

/** What a phase reads through translators, the policy that it trains first. */
export const lensPlaces = (
  phase: Phase,
  shape: { readonly num_hidden_layers: number },
): readonly LensPlace[] =>
  policiesOf(phase).flatMap(({ layer, readout = 'raw' }) => {
    const name = translatedAs(shape, layer, readout)
    return name ? [{ layer, readout: name }] : []
  })

/** The layers that any of the phases reads so, in their order. */
export const lensLayers = (
  phases: readonly Phase[],
  shape: { readonly num_hidden_layers: number },
): readonly number[] =>
  [...new Set(phases.flatMap((phase) => lensPlaces(phase, shape).map(({ layer }) => layer)))].sort(
    (a, b) => a - b,
  )
