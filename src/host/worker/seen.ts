// Collects what has been shown of one state of the model, in one go or in several. Knows neither
// the worker nor the GPU.
import type { Observation, ObservationRequest } from '../protocol/observation.ts'

/** What a step showed and what was asked for then. */
export interface Seen {
  readonly step: number
  readonly request: ObservationRequest
  readonly observation: Observation
}

/** Two observations as one where they are of the same step, so that a panel that opens in a pause
 * takes nothing from those before it. What both have is the newer one's. */
export function seenTogether(before: Seen | undefined, now: Seen): Seen {
  if (before?.step !== now.step) return now
  const [old, fresh] = [before.observation, now.observation]
  const hasLens = now.request.lens !== undefined
  const hasLayer = now.request.groups.includes('similarity')
  const layerOf = hasLayer ? now : before
  const { refused: _, ...rest } = old
  return {
    step: now.step,
    request: {
      ...now.request,
      groups: [...new Set([...before.request.groups, ...now.request.groups])],
      lens: hasLens ? now.request.lens : before.request.lens,
      layer: layerOf.request.layer,
    },
    observation: {
      ...rest,
      ...fresh,
      mean: { ...old.mean, ...fresh.mean },
      std: { ...old.std, ...fresh.std },
      layer: layerOf.observation.layer,
      lenses: hasLens ? fresh.lenses : old.lenses,
      cost_ms: { ...old.cost_ms, ...fresh.cost_ms },
    },
  }
}
