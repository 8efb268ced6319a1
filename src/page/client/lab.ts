// Opens and closes the lab on a page: the worker, the link, and what follows from both.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { type DecodedLink, decodeLink } from '../../document/links/link.ts'
import { isCardHash } from '../../document/links/names.ts'
import { OPENING, openingOn } from '../../document/presets/presets.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import {
  connect,
  disconnect,
  labPage,
  portMaker,
  post,
  type Reactions,
  wire,
} from '../connection/connection.ts'
import type { LabPage, LabPort } from '../connection/port.ts'
import { syncContents } from '../contents/contents.ts'
import { answerPrograms } from '../contents/programs.ts'
import { syncPlan } from '../state/asked_plan.ts'
import { readShareHash } from '../state/share_store.ts'
import { initialState, type LabState, labStore } from '../state/store.ts'
import { browserPage, newWorker } from './browser_page.ts'
import { settingsOf, syncAddress } from './links.ts'
import { forgetSending, sendWanted } from './observing.ts'
import { forgetReplaced, replaceWorker } from './recovery.ts'
import { forgetSetAside } from './stage.ts'
import { answersMove, forgetMoves } from './steering.ts'

let stopSyncing: () => void = () => {}
let stopPlanning: () => void = () => {}
let stopLooking: () => void = () => {}
let stopAnswering: () => void = () => {}

const REACTIONS: Reactions = {
  onConnect: forgetMoves,
  onEvent: (event: LabEvent) => {
    answersMove(event)
    if ('cache' in event && event.cache !== undefined) rememberKernels(event.cache)
    // Another phase may train another layer, which moments then compare.
    if (event.type === 'phase') sendWanted()
    // What an adapter is decides how often it is observed.
    if (event.type !== 'adapter') return
    openOn(event.adapter)
    sendWanted()
  },
  replaces: replaceWorker,
}

const isBare = (query: string): boolean => query.replace('?', '') === ''

/** What a link holds, or what the page opens with. */
const linkOf = (query: string): DecodedLink =>
  isBare(query)
    ? { experiment: OPENING.experiment, preset_id: OPENING.id, notices: [] }
    : decodeLink(query)

/** No link said what to open, and the adapter is not known yet. */
let isOpenToAll = false

/** Where nobody has chosen anything, the adapter that is found chooses what the page opens with. */
function openOn(adapter: AdapterFacts): void {
  const { experiment, id } = openingOn(adapter)
  const isUntouched = labStore.getState().experiment === OPENING.experiment
  if (isOpenToAll && isUntouched) labStore.setState({ experiment, preset_id: id })
  isOpenToAll = false
}

const addNotices = (more: readonly string[]): void =>
  labStore.setState(({ notices }) => ({ notices: [...notices, ...more] }))

/** Few links hold the result of a benchmark. */
async function readCard(hash: string): Promise<void> {
  const { decodeCard } = await import('../../host/protocol/card.ts')
  const { card: sharedCard, notices } = decodeCard(hash)
  labStore.setState({ sharedCard })
  addNotices(notices)
}

/** Opens the lab: reads the link, starts the worker, opens the adapter, and from then on keeps the
 * address bar equal to the experiment. To be called once per page. */
export function openLab(worker: () => LabPort = newWorker, on: LabPage = browserPage()): void {
  closeLab()
  wire(worker, on, REACTIONS)
  const link = linkOf(on.query)
  isOpenToAll = isBare(on.query)
  const ofView = readShareHash(on.hash, link.experiment, addNotices)
  labStore.setState({
    ...initialState(),
    ...link,
    notices: [...link.notices, ...ofView],
  })
  if (isCardHash(on.hash)) void readCard(on.hash)
  connect()
  followSettings()
  forgetReplaced()
}

/** Ends the worker and forgets it. */
export function closeLab(): void {
  stopSyncing()
  stopPlanning()
  stopLooking()
  stopAnswering()
  disconnect()
  forgetSending()
  forgetSetAside()
}

/** Puts another port in the worker's place, e.g. a recording, with its experiment; the address
 * stays as it is. Returns the way back to the worker and to what the settings showed. */
export function openInstead(port: () => LabPort, experiment: Experiment): () => void {
  const worker = portMaker()
  const before = labStore.getState()
  const swap = (to: () => LabPort, shown: Pick<LabState, 'experiment' | 'preset_id'>) => {
    closeLab()
    wire(to, labPage(), REACTIONS)
    labStore.setState({ ...initialState(), ...shown })
    connect()
  }
  swap(port, settingsOf(experiment))
  return () => {
    swap(worker, { experiment: before.experiment, preset_id: before.preset_id })
    followSettings()
  }
}

/** From now on the address, the planned memory and the files are those of the settings. */
function followSettings(): void {
  stopSyncing = syncAddress((query) => labPage().replaceQuery(query))
  stopLooking = syncContents()
  stopAnswering = answerPrograms()
  stopPlanning = syncPlan((experiment) => post({ type: 'plan', experiment }))
}

/** What is known of the fastest kernels on this adapter. */
export const recallKernels = (): string | undefined => labPage().recall()
export const rememberKernels = (cache: string): void => labPage().remember(cache)
