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
  Pick<
    ObservationRequest,
    'groups' | 'layer' | 'lens' | 'tokens' | 'token_layers' | 'parts' | 'readings'
  >
>

/** One request for all panels, in the order in which they registered: every group and every text
 * once, the most held-out texts, and the layer that was named last, else the usual one. */
export function mergeWanted(
  parts: Iterable<WantedPart>,
  every: number,
  fallbackLayer: number = NO_OBSERVATION.layer,
): ObservationRequest {
  const all = [...parts]
  const wanted = new Set(all.flatMap(({ groups = [] }) => groups))
  const names = Object.keys(OBSERVED_GROUPS) as ObservedGroup[]
  return {
    groups: names.filter((group) => wanted.has(group)),
    layer: all.findLast(({ layer }) => layer !== undefined)?.layer ?? fallbackLayer,
    lens: mergeLenses(all.flatMap(({ lens }) => lens ?? [])),
    tokens: all.some(({ tokens }) => tokens === true),
    token_layers: all.some(({ token_layers }) => token_layers === true),
    parts: all.some(({ parts }) => parts === true),
    readings: [...new Set(all.flatMap(({ readings = [] }) => readings))],
    every,
  }
}

function mergeLenses(lenses: readonly LensRequest[]): LensRequest | undefined {
  if (lenses.length === 0) return undefined
  const samples = lenses.flatMap((lens) => lens.samples)
  const byText = new Map(samples.map((sample) => [textKey(sample), sample]))
  return {
    held_out: Math.max(...lenses.map(({ held_out }) => held_out)),
    samples: [...byText.values()],
  }
}

const textKey = ({ prompt, response, is_ended }: LensSample) =>
  JSON.stringify([prompt, response, is_ended])

const wanted = new Map<string, WantedPart>()
/** The request that the worker has, as text. */
let sentRequest = ''
let isSending = false
let isHidden = false

/** Software adapters are slow: there an observation may cost more than a step. */
const SOFTWARE_EVERY = 5

/** Every how many steps panels are shown the inside: 1, on software adapters 5. */
export const observeEvery = (): number =>
  labStore.getState().adapter?.is_software ? SOFTWARE_EVERY : 1

let hasMoments = true

/** Whether runs are looked at in moments (validations, ends of phases), whatever panels are open
 * and also while the page is hidden. */
export function setMoments(wants: boolean): void {
  hasMoments = wants
  sendWanted()
}

/** The layer that moments compare with the others where no panel names one: the inner one that the
 * run trains, which its figure shows. */
function usualLayer(): number {
  const { runExperiment, experiment, phase } = labStore.getState()
  return innerLayer(runExperiment ?? experiment, phase) ?? NO_OBSERVATION.layer
}

/** What all panels together want now; nothing but moments while the page is hidden. */
export const wantedRequest = (): ObservationRequest => ({
  ...mergeWanted(isHidden ? [] : wanted.values(), observeEvery(), usualLayer()),
  ...(hasMoments && { moments: true }),
})

const wantedHearers = new Set<(request: ObservationRequest) => void>()

/** Hears what panels want whenever that may have changed, whether or not the current run is on.
 * Returns how to stop. */
export function onWanted(hear: (request: ObservationRequest) => void): () => void {
  wantedHearers.add(hear)
  return () => wantedHearers.delete(hear)
}

/** Whether the whole page is out of sight, as in a background tab: then nothing is observed,
 * whatever panels want. */
export function setHidden(hidden: boolean): void {
  if (hidden === isHidden) return
  isHidden = hidden
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
  if (isSending || !isConnected()) return
  isSending = true
  labPage().nextFrame(() => {
    isSending = false
    const request = wantedRequest()
    const text = JSON.stringify(request)
    for (const hear of wantedHearers) hear(request)
    // The next run's start brings it along.
    if (!isBusy(labStore.getState()) || text === sentRequest) return
    sentRequest = text
    post({ type: 'observe', request })
  })
}

/** The request that a run starts with. */
export function requestForStart(): ObservationRequest {
  const request = wantedRequest()
  sentRequest = JSON.stringify(request)
  return request
}

/** The page is closed: no frame comes that would send the request. */
export function forgetSending(): void {
  isSending = false
}
