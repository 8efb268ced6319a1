// What open panels want to see of a model's inside, put together into one request. No page and no worker here.
import {
  type LensRequest,
  type LensSample,
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from '../protocol/observation.ts'

/** What one panel wants; what it leaves out it does not need. */
export type WantedPart = Partial<
  Pick<ObservationRequest, 'groups' | 'layer' | 'lens' | 'tokens' | 'token_layers'>
>

/**
 * One request for all panels, in the order in which they registered: every group and every text once, the most held-out
 * texts, and the layer that was named last.
 */
export function mergeWanted(parts: Iterable<WantedPart>, every: number): ObservationRequest {
  const all = [...parts]
  const wanted = new Set(all.flatMap(({ groups = [] }) => groups))
  const names = Object.keys(OBSERVED_GROUPS) as ObservedGroup[]
  return {
    groups: names.filter((group) => wanted.has(group)),
    layer: all.findLast(({ layer }) => layer !== undefined)?.layer ?? NO_OBSERVATION.layer,
    lens: mergeLenses(all.flatMap(({ lens }) => lens ?? [])),
    tokens: all.some(({ tokens }) => tokens === true),
    token_layers: all.some(({ token_layers }) => token_layers === true),
    every,
  }
}

function mergeLenses(lenses: readonly LensRequest[]): LensRequest | undefined {
  if (lenses.length === 0) return undefined
  const samples = lenses.flatMap((lens) => lens.samples)
  const by_text = new Map(samples.map((sample) => [textKey(sample), sample]))
  return {
    held_out: Math.max(...lenses.map(({ held_out }) => held_out)),
    samples: [...by_text.values()],
  }
}

const textKey = ({ prompt, response, is_ended }: LensSample) =>
  JSON.stringify([prompt, response, is_ended])
