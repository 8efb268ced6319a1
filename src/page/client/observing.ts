// Joins what open panels want to see of the model's inside into one request to the worker.
import { innerLayer } from '../../document/experiment/resolve.ts'
import {
  type LensRequest,
  type LensSample,
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from '../../host/protocol/observation.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { isConnected, labPage, post } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'

/** What one panel wants; what it leaves out it does not need. */
export type WantedPart = Partial<
  Pick<ObservationRequest, 'groups' | 'layer' | 'lens' | 'tokens' | 'token_layers'>
>

/** One request for all panels, in the order in which they registered: every group and every text
 * once, the most held-out texts, and the layer that was named last, else the usual one. */
export function mergeWanted(
  parts: Iterable<WantedPart>,
  every: number,
  usual_layer: number = NO_OBSERVATION.layer,
): ObservationRequest {
  const all = [...parts]
  const wanted = new Set(all.flatMap(({ groups = [] }) => groups))
  const names = Object.keys(OBSERVED_GROUPS) as ObservedGroup[]
  return {
    groups: names.filter((group) => wanted.has(group)),
    layer: all.findLast(({ layer }) => layer !== undefined)?.layer ?? usual_layer,
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

const wanted = new Map<string, WantedPart>()
/** The request that the worker has, as text. */
let sent_request = ''
let is_sending = false
let is_hidden = false

/** Software adapters are slow: there an observation may cost more than a step. */
const SOFTWARE_EVERY = 5

/** Every how many steps panels are shown the inside: 1, on software adapters 5. */
const observeEvery = (): number => (labStore.getState().adapter?.is_software ? SOFTWARE_EVERY : 1)

let has_moments = true

/** Whether runs are looked at in moments (validations, ends of phases), whatever panels are open
 * and also while the page is hidden. */
export function setMoments(wants: boolean): void {
  has_moments = wants
  sendWanted()
}

/** The layer that moments compare with the others where no panel names one: the inner one that the
 * run trains, which its figure shows. */
function usualLayer(): number {
  const { run_experiment, experiment, phase } = labStore.getState()
  return innerLayer(run_experiment ?? experiment, phase) ?? NO_OBSERVATION.layer
}

/** What all panels together want now; nothing but moments while the page is hidden. */
export const wantedRequest = (): ObservationRequest => ({
  ...mergeWanted(is_hidden ? [] : wanted.values(), observeEvery(), usualLayer()),
  ...(has_moments && { moments: true }),
})

const wanted_hearers = new Set<(request: ObservationRequest) => void>()

/** Hears what panels want whenever that may have changed, whether or not the current run is on.
 * Returns how to stop. */
export function onWanted(hear: (request: ObservationRequest) => void): () => void {
  wanted_hearers.add(hear)
  return () => wanted_hearers.delete(hear)
}

/** Whether the whole page is out of sight, as in a background tab: then nothing is observed,
 * whatever panels want. */
export function setHidden(hidden: boolean): void {
  if (hidden === is_hidden) return
  is_hidden = hidden
  sendWanted()
}

/** Has the worker observe what a panel shows, as `observed` events (and `trace` for tokens), until
 * the returned function is called. `id` names the panel: a second call with it replaces the first,
 * whose function then does nothing. Several calls within a frame are one message. */
export function wantObserved(id: string, part: WantedPart): () => void {
  wanted.delete(id)
  wanted.set(id, part)
  sendWanted()
  return () => {
    if (wanted.get(id) !== part) return
    wanted.delete(id)
    sendWanted()
  }
}

/** Sends the request with the next frame, if a run is on and it has another one. */
export function sendWanted(): void {
  if (is_sending || !isConnected()) return
  is_sending = true
  labPage().nextFrame(() => {
    is_sending = false
    const request = wantedRequest()
    const text = JSON.stringify(request)
    for (const hear of wanted_hearers) hear(request)
    // The next run's start brings it along.
    if (!isBusy(labStore.getState()) || text === sent_request) return
    sent_request = text
    post({ type: 'observe', request })
  })
}

/** The request that a run starts with. */
export function requestForStart(): ObservationRequest {
  const request = wantedRequest()
  sent_request = JSON.stringify(request)
  return request
}

/** The page is closed: no frame comes that would send the request. */
export function forgetSending(): void {
  is_sending = false
}
