// The page's end of the lab: owns the worker, and what the buttons do. At most one store update per animation frame.
import { checkpointSettings } from '../checkpoints/settings.ts'
import { lowerRates } from '../diagnosis/lower_rate.ts'
import { smallerExperiment } from '../diagnosis/smaller.ts'
import { steerExperiment, withField } from '../experiment/experiment.ts'
import { experimentFields } from '../experiment/form/form.ts'
import type { PhaseDocument } from '../experiment/phases.ts'
import type { Experiment } from '../experiment/schema.ts'
import type { SteeringAction } from '../experiment/steering/actions.ts'
import { isSteerable } from '../experiment/steering/edit_phases.ts'
import { decodeLink, encodeLink, MAX_LINK_LENGTH } from '../links/link.ts'
import { isViewHash } from '../links/view.ts'
import { presetOf } from '../presets/presets.ts'
import { decodeCard, encodeCard, isCardHash, type ResultCard } from '../protocol/card.ts'
import type { CheckpointSource } from '../protocol/checkpoint_facts.ts'
import type { ObservationRequest } from '../protocol/observation.ts'
import type { LabCommand, LabError, LabEvent } from '../protocol/protocol.ts'
import { syncPlan } from './asked_plan.ts'
import type { KeptOfRun } from './kept_run.ts'
import { newRecordId } from './record_id.ts'
import { lockedBecause, lockOf, openingLocked, readShareHash } from './share_store.ts'
import { comesBack, makesRoom, type SetAside, type Settings, stageOf } from './stage.ts'
import {
  applyEvent,
  emptyRun,
  initialState,
  type LabState,
  labStore,
  nextExperiment,
} from './store.ts'
import { type Said, withVerdicts } from './taught.ts'
import { mergeWanted, type WantedPart } from './wanted.ts'

/** What the client needs of a Worker. */
export interface LabPort {
  postMessage(command: LabCommand): void
  terminate(): void
  addEventListener(type: 'message', listener: (event: { data: LabEvent }) => void): void
  addEventListener(
    type: 'error' | 'messageerror',
    listener: (event: { message?: string }) => void,
  ): void
  /** When what it says happened, where that is not now: a recording has a clock of its own. Milliseconds. */
  now?(): number
}

/** What the client needs of the page: where it is, and when to draw. */
export interface LabPage {
  /** Address without query and hash. */
  readonly address: string
  readonly query: string
  /** What follows '#'; '' when nothing does. */
  readonly hash: string
  /** Puts this query into the address bar, without a new entry in the history. */
  replaceQuery(query: string): void
  /** Calls `flush` once, soon: in the next frame, or a little later where no frames are drawn. */
  nextFrame(flush: () => void): void
  /** What `remember` was given last, also by an earlier page of this origin. */
  recall(): string | undefined
  /** Keeps which kernels are the fastest on this adapter. */
  remember(kernel_cache: string): void
  /** Milliseconds. */
  now(): number
}

interface Connection {
  readonly port: LabPort
  /** False once it was closed or has died. */
  isOpen: boolean
  /** When it said something last. */
  heard_at: number
  /** It says every now and then that it is there: a worker does, a recording does not. */
  is_beating: boolean
}

/** Between two looks at whether the worker still says something. */
const WATCH_MS = 2000
/** A worker that says nothing for so long hangs. */
export const SILENT_MS = 20_000
/** A second worker that goes wrong within so long is not replaced: it would not help. */
const REPLACED_MS = 60_000

let replaced_at = Number.NEGATIVE_INFINITY
let watch: ReturnType<typeof setInterval> | undefined

let createPort: () => LabPort
let page: LabPage
let connection: Connection | undefined
let stopSyncing: () => void = () => {}
let stopPlanning: () => void = () => {}

export const newWorker = (): LabPort =>
  new Worker(new URL('../worker/worker.ts', import.meta.url), {
    type: 'module',
    name: 'understory',
  })

const CACHE_KEY = 'understory.kernels'

/** The browser's storage; where it is off, the page remembers as long as it is open. */
function browserMemory(): Pick<LabPage, 'recall' | 'remember'> {
  let kept: string | undefined
  return {
    recall: () => {
      try {
        return localStorage.getItem(CACHE_KEY) ?? kept
      } catch {
        return kept
      }
    },
    remember: (kernel_cache) => {
      kept = kernel_cache
      try {
        localStorage.setItem(CACHE_KEY, kernel_cache)
      } catch {
        // Full or off.
      }
    },
  }
}

/** The browser's own page. Frames stop in hidden tabs, so a timer stands in for them. */
function browserPage(): LabPage {
  // A query after '#' is read too: some programs strip the one after '?'.
  const is_query =
    /=/.test(location.hash) && !isCardHash(location.hash) && !isViewHash(location.hash)
  const hash = is_query ? location.hash : ''
  return {
    address: location.href.replace(/[?#].*$/s, ''),
    query: location.search.length > 1 ? location.search : hash,
    hash: location.hash,
    replaceQuery: (query) => {
      const view = isViewHash(location.hash) ? location.hash : ''
      history.replaceState(history.state, '', `?${query}${view}`)
    },
    nextFrame: (flush) => {
      let is_done = false
      const once = () => {
        if (!is_done) flush()
        is_done = true
      }
      requestAnimationFrame(once)
      setTimeout(once, 500)
    },
    ...browserMemory(),
    now: () => performance.now(),
  }
}

/**
 * Opens the lab: reads the link, starts the worker, opens the adapter, and from then on keeps the address bar equal to
 * the experiment. To be called once per page.
 */
export function openLab(worker: () => LabPort = newWorker, on: LabPage = browserPage()): void {
  closeLab()
  createPort = worker
  page = on
  const link = decodeLink(page.query)
  const { card: shared_card, notices } = decodeCard(page.hash)
  const of_view = readShareHash(page.hash, link.experiment)
  labStore.setState({
    ...initialState(),
    ...link,
    shared_card,
    notices: [...link.notices, ...notices, ...of_view],
  })
  connect()
  followSettings()
  replaced_at = Number.NEGATIVE_INFINITY
}

/** Ends the worker and forgets it. */
export function closeLab(): void {
  stopSyncing()
  stopPlanning()
  clearInterval(watch)
  connection?.port.terminate()
  if (connection) connection.isOpen = false
  connection = undefined
  is_sending = false
  set_aside = undefined
}

/**
 * Puts another port in the worker's place, e.g. a recording, with its experiment; the address stays as it is. Returns the way
 * back to the worker and to what the settings showed.
 */
export function openInstead(port: () => LabPort, experiment: Experiment): () => void {
  const worker = createPort
  const before = labStore.getState()
  const swap = (to: () => LabPort, shown: Pick<LabState, 'experiment' | 'preset_id'>) => {
    closeLab()
    createPort = to
    labStore.setState({ ...initialState(), ...shown })
    connect()
  }
  swap(port, settingsOf(experiment))
  return () => {
    swap(worker, { experiment: before.experiment, preset_id: before.preset_id })
    followSettings()
  }
}

/** From now on the address and the planned memory are those of the settings. */
function followSettings(): void {
  stopSyncing = syncAddress((query) => page.replaceQuery(query))
  stopPlanning = syncPlan((experiment) => post({ type: 'plan', experiment }))
}

/** Starts a worker and wires it to the store: any number of events arrive, one update per frame leaves. */
function connect(): void {
  moving = 0
  let pending: { event: LabEvent; at_ms: number }[] = []
  const flush = () => {
    const events = pending
    pending = []
    if (!own.isOpen) return
    labStore.setState(
      events.reduce(
        (state, { event, at_ms }) => applyEvent(state, event, at_ms),
        labStore.getState(),
      ),
    )
  }
  const die = (message: string) => {
    if (!own.isOpen) return
    flush()
    own.isOpen = false
    own.port.terminate()
    if (!replaceWorker(own, message)) fail({ name: 'WorkerError', code: 'worker', message })
  }
  const own: Connection = {
    port: createPort(),
    isOpen: true,
    heard_at: page.now(),
    is_beating: false,
  }
  connection = own
  watchOver(own, die)
  own.port.addEventListener('message', ({ data }) => {
    own.heard_at = page.now()
    if (data.type === 'alive') {
      own.is_beating = true
      return
    }
    if (own.isOpen) for (const hear of hearers) hear(data)
    if (data.type === 'steered' && movesPhases(data.entry.kind)) moving = Math.max(0, moving - 1)
    if (own.isOpen && data.type === 'kernels' && data.cache !== undefined) page.remember(data.cache)
    const at_ms = own.port.now?.() ?? page.now()
    if (own.isOpen && pending.push({ event: data, at_ms }) === 1) page.nextFrame(flush)
    // What an adapter is decides how often it is observed.
    if (data.type === 'adapter') sendWanted()
  })
  own.port.addEventListener('error', ({ message }) =>
    die(message || 'The worker could not be loaded.'),
  )
  own.port.addEventListener('messageerror', () => die('A message of the worker was unreadable.'))
  post({ type: 'open' })
}

/** A worker that hangs while a run is on is given up. */
function watchOver(own: Connection, die: (message: string) => void): void {
  clearInterval(watch)
  let looked_at = page.now()
  watch = setInterval(() => {
    const now = page.now()
    // The page itself slept: nothing is known of the worker.
    if (now - looked_at > 2 * WATCH_MS) own.heard_at = now
    looked_at = now
    const silent_ms = now - own.heard_at
    if (own.is_beating && silent_ms >= SILENT_MS && isBusy(labStore.getState()))
      die(`The worker has not answered for ${Math.round(silent_ms / 1000)} seconds.`)
  }, WATCH_MS)
}

/** Another worker goes on with the run that is on, from its newest checkpoint. False where that is of no use. */
function replaceWorker(dead: Connection, message: string): boolean {
  const state = labStore.getState()
  const now = page.now()
  if (!dead.is_beating || !isBusy(state) || now - replaced_at < REPLACED_MS) return false
  replaced_at = now
  connect()
  const { run, record, checkpoints, run_document, checkpoint_problem } = state
  if (!run_document) return false
  // What was kept in memory is gone with the worker.
  const is_gone = checkpoint_problem?.code === 'unavailable'
  const step = is_gone ? undefined : checkpoints.at(-1)?.step
  const from: CheckpointSource | undefined =
    step === undefined ? undefined : { kind: 'resume', record, step }
  if (!from) labStore.setState((before) => applyEvent(before, fromTheStart(run, run_document), now))
  labStore.setState({
    status: 'preparing',
    loss: { what: 'worker', step: step ?? 0, message, is_waiting: false, is_blocked: false },
  })
  const is_paused = takes_turns || state.is_pausing || state.status === 'paused'
  postStart({ run, record, experiment: run_document, paused: is_paused, from })
  if (takes_turns && state.status !== 'paused' && !state.is_pausing) giveTurn()
  return true
}

const fromTheStart = (run: number, document: Experiment): LabEvent => ({
  ...{ type: 'restored', run, why: 'lost', step: 0, phase: 0, phase_step: 0 },
  experiment: { ...document, steering: [] },
  document,
  history: { series: {}, phase_switches: [], steered: [], verdicts: {} },
  kernels: '',
})

const fail = (error: LabError) =>
  labStore.setState((state) =>
    applyEvent(state, { type: 'failed', run: undefined, error }, page.now()),
  )

function post(command: LabCommand): void {
  if (connection?.isOpen) connection.port.postMessage(command)
}

const hearers = new Set<(event: LabEvent) => void>()

/** Hears every event of the worker as it arrives, before the store has it. Returns how to stop. */
export function onLabEvent(hear: (event: LabEvent) => void): () => void {
  hearers.add(hear)
  return () => hearers.delete(hear)
}

/** What is known of the fastest kernels on this adapter. */
export const recallKernels = (): string | undefined => page.recall()
export const rememberKernels = (cache: string): void => page.remember(cache)

/** The run steps only when it is given a turn. */
let takes_turns = false

const start = (paused: boolean): void =>
  begin({ experiment: nextExperiment(labStore.getState()), record: newRecordId(), paused })

/** A run from its first step, or from a checkpoint, whose own experiment counts. */
interface Beginning {
  readonly experiment: Experiment
  readonly record: string
  readonly paused: boolean
  readonly from?: CheckpointSource
  /** Where the settings come from. */
  readonly preset_id?: string
  /** What earlier steps left for looking back. */
  readonly kept?: KeptOfRun
  /** Bytes of GPU memory that a person has allowed for it. */
  readonly allow_bytes?: number
}

/** What was begun last. */
let begun: Beginning | undefined

/** Begins what was refused for its memory once more, with so many bytes allowed. */
export function trainAllowing(allow_bytes: number): void {
  if (!begun || isBusy(labStore.getState())) return
  // A run that continues has its record; another one begins.
  const record = begun.from?.kind === 'resume' ? begun.record : newRecordId()
  begin({ ...begun, record, allow_bytes })
}

function begin(beginning: Beginning): void {
  const { experiment, record, paused, from, preset_id, kept } = beginning
  begun = beginning
  takes_turns = false
  if (!connection?.isOpen) connect()
  const { run } = labStore.getState()
  set_aside = undefined
  forgetEdits()
  moving = 0
  labStore.setState({
    ...emptyRun(),
    ...(kept && { kept }),
    ...(preset_id !== undefined && { preset_id }),
    status: 'preparing',
    run: run + 1,
    record,
    experiment,
    run_experiment: experiment,
    run_document: experiment,
  })
  postStart({ run: run + 1, record, experiment, paused, from })
}

function postStart(
  command: Pick<
    Extract<LabCommand, { type: 'start' }>,
    'run' | 'record' | 'experiment' | 'paused' | 'from'
  >,
): void {
  const kernel_cache = page.recall()
  const observe = wantedRequest()
  sent_request = JSON.stringify(observe)
  const checkpoints = checkpointSettings()
  const allow_bytes = begun?.allow_bytes
  post({ type: 'start', ...command, checkpoints, kernel_cache, observe, allow_bytes })
}

/** What a run that goes on from a checkpoint was. */
export interface WentBefore {
  readonly experiment: Experiment
  readonly preset_id: string
  readonly kept?: KeptOfRun
}

/** The settings that an experiment from elsewhere comes with. */
export const settingsOf = (experiment: Experiment): Settings => ({
  experiment,
  preset_id: decodeLink(encodeLink(experiment)).preset_id,
})

/** Goes on from a checkpoint: the same run, or one of its own that remembers where it comes from. */
export function goOn(from: CheckpointSource, { experiment, preset_id, kept }: WentBefore): void {
  const record = from.kind === 'resume' ? from.record : newRecordId()
  begin({ experiment, record, paused: false, from, preset_id, ...(kept && { kept }) })
}

/** Has the run that is on keep a checkpoint as soon as it can. */
export function keepCheckpoint(): void {
  if (isBusy(labStore.getState())) post({ type: 'checkpoint' })
}

/** A checkpoint that the worker has, as a file; without `step` the newest state. Rejects with a sentence for people. */
export function readCheckpoint(
  record: string,
  step?: number,
): Promise<{ readonly step: number; readonly bytes: ArrayBuffer }> {
  return new Promise((resolve, reject) => {
    const stop = onLabEvent((event) => {
      if (event.type === 'checkpoint_file' && event.record === record) resolve(event)
      else if (event.type === 'checkpoint_file_failed' && event.record === record)
        reject(new RangeError(event.message))
      else return
      stop()
    })
    if (!connection?.isOpen) connect()
    post({ type: 'read_checkpoint', record, ...(step !== undefined && { step }) })
  })
}

const wanted = new Map<string, WantedPart>()
/** The request that the worker has, as text. */
let sent_request = ''
let is_sending = false
let is_hidden = false

/** Software adapters are slow: there an observation may cost more than a step. */
const SOFTWARE_EVERY = 5

/** Every how many steps panels are shown the inside: 1, on software adapters 5. */
const observeEvery = (): number => (labStore.getState().adapter?.is_software ? SOFTWARE_EVERY : 1)

/** What all panels together want now; nothing while nobody can see them. */
export const wantedRequest = (): ObservationRequest =>
  mergeWanted(is_hidden ? [] : wanted.values(), observeEvery())

const wanted_hearers = new Set<(request: ObservationRequest) => void>()

/** Hears what panels want whenever that may have changed, whether or not the living run is on. Returns how to stop. */
export function onWanted(hear: (request: ObservationRequest) => void): () => void {
  wanted_hearers.add(hear)
  return () => wanted_hearers.delete(hear)
}

/** Whether the whole page is out of sight, as in a background tab: then nothing is observed, whatever panels want. */
export function setHidden(hidden: boolean): void {
  if (hidden === is_hidden) return
  is_hidden = hidden
  sendWanted()
}

/**
 * Has the worker observe what a panel shows, as `observed` events (and `trace` for tokens), until the returned function is
 * called. `id` names the panel: a second call with it replaces the first, whose function then does nothing. Several calls
 * within a frame are one message.
 */
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
function sendWanted(): void {
  if (is_sending || !connection?.isOpen) return
  is_sending = true
  page.nextFrame(() => {
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

/** Trains the experiment that the settings show, from its first step. */
export const train = (): void => start(false)
/** Pauses after the step in flight. */
export function pause(): void {
  if (GOING.includes(labStore.getState().status)) labStore.setState({ is_pausing: true })
  post({ type: 'pause' })
}

const GOING: readonly LabState['status'][] = ['preparing', 'running', 'waiting']

/** Goes on after a pause. */
export function resume(): void {
  labStore.setState({ is_pausing: false })
  post({ type: takes_turns ? 'turn' : 'resume' })
}

/** Begins a run that takes a step whenever `giveTurn` is called; its first turn is given. */
export function trainInTurns(): void {
  start(true)
  takes_turns = true
  giveTurn()
}
/** One step of a run that takes turns. */
export const giveTurn = (): void => post({ type: 'turn' })

/** The run no longer takes turns: it goes on by itself, unless it is paused. */
export function endTurns(): void {
  const { status } = labStore.getState()
  if (takes_turns && (status === 'running' || status === 'preparing')) post({ type: 'resume' })
  takes_turns = false
}
/** Ends the phase after the step in flight. */
export function nextPhase(): void {
  if (lockedBecause('phases') !== undefined) return
  sendResting()
  post({ type: 'next_phase' })
}

/** Says which response of the pair that is next in line is better, or that neither is. */
export function giveVerdict(choice: 'a' | 'b' | 'skip'): void {
  const pair = labStore.getState().asked?.pairs[0]
  if (pair) post({ type: 'verdict', id: pair.id, choice })
}

/** Takes the last verdict back. */
export const undoVerdict = (): void => post({ type: 'undo_verdict' })

/**
 * nextExperiment; where that is the run's own document and a person has taught its reward models, with what they said, so that
 * it repeats the run without asking.
 */
export function taughtExperiment(state: LabState): Experiment {
  const document = nextExperiment(state)
  return document === state.run_document ? withVerdicts(document, saidIn(state)) : document
}

/** What was said in each reward_model phase that has begun to train, and after which step the phase began. */
export function saidIn({ verdicts, phase, phase_step, phase_switches }: LabState): Said[] {
  return Object.entries(verdicts)
    .map(([index, said]) => ({ index: Number(index), said }))
    .filter(({ index }) => index < phase || (index === phase && phase_step > 0))
    .map(({ index, said }) => {
      const step = phase_switches.find((began) => began.phase === index)?.step ?? 0
      return { index, said, step }
    })
}

/** Puts what a person said in this run into the settings, so that the next run repeats it. */
export function keepVerdicts(): void {
  labStore.setState((state) => {
    const experiment = taughtExperiment(state)
    // The run's own document, so that it begins again with what was done to it.
    return experiment === nextExperiment(state) ? {} : { experiment, run_document: experiment }
  })
}

export type { Settings }

/** What a person did to the settings. */
export type EditKind =
  | { readonly kind: 'field'; readonly path: string }
  | { readonly kind: 'preset' | 'discard' | 'smaller' }
  | { readonly kind: 'file'; readonly name: string }

export type Edit = EditKind & { readonly before: Settings; readonly after: Settings }

let tellEdit: (edit: Edit) => void = () => {}

/** Tells of every edit by a person from now on, after it was made; what a run does to the settings is none. */
export function onEdit(tell: (edit: Edit) => void): void {
  tellEdit = tell
}

function edit(change: Partial<LabState>, kind: EditKind): void {
  const before = settingsIn(labStore.getState())
  labStore.setState(change)
  tellEdit({ ...kind, before, after: settingsIn(labStore.getState()) })
}

const settingsIn = ({ experiment, preset_id }: LabState): Settings => ({ experiment, preset_id })

/** The run that made room for the experiment that was opened last. */
let set_aside: SetAside | undefined

/** Before another experiment is opened: a run that is over makes room for it, and stays under Runs. */
function makeRoomFor(experiment: Experiment): void {
  const state = labStore.getState()
  // The other run of a duel may still be on.
  if (takes_turns || !makesRoom(state, experiment)) return
  const { adapter, run } = state
  set_aside = { settings: settingsIn(state), stage: stageOf(state) }
  forgetEdits()
  labStore.setState({ ...emptyRun(), status: adapter ? 'idle' : 'loading', run: run + 1 })
  openAdapter()
}

/**
 * Shows an experiment from elsewhere in the settings, e.g. from a file; a run that is on continues, one that is over makes room.
 * Returns why it was refused, if so.
 */
export function openExperiment(
  experiment: Experiment,
  name: string,
  preset_id = settingsOf(experiment).preset_id,
): string | undefined {
  const locked = openingLocked()
  if (locked !== undefined) return locked
  open({ experiment, preset_id, notices: [] }, { kind: 'file', name })
  return undefined
}

function open(change: Settings & Pick<LabState, 'notices'>, kind: EditKind): void {
  makeRoomFor(change.experiment)
  edit(change, kind)
}

/**
 * Puts the settings back to what they were; a run that is on follows in the field `path`, where it can. `is_other`: another
 * experiment had been opened, so that a run that made room comes back.
 */
export function restoreSettings(
  settings: Settings,
  path: string | undefined,
  is_other = false,
): void {
  const back = is_other ? comesBack(labStore.getState(), set_aside, settings) : undefined
  if (is_other && !back) makeRoomFor(settings.experiment)
  labStore.setState(back ?? settings)
  if (path !== undefined && isBusy(labStore.getState())) sendEdit(path)
}

const BUSY: readonly LabState['status'][] = ['preparing', 'running', 'paused', 'waiting']

/** A run is under way or about to be. */
export const isBusy = ({ status }: LabState): boolean => BUSY.includes(status)

/** Does something to the run before its next step. Returns why it cannot be done, if so. */
export function steer(action: SteeringAction): string | undefined {
  const locked = lockedBecause(action.kind === 'set' ? lockOf(action.path) : 'phases')
  if (locked !== undefined) return locked
  const { run_experiment, phase, phase_step } = labStore.getState()
  if (!run_experiment) return 'There is no run to steer.'
  const result = steerExperiment(run_experiment, action, phase, phase_step)
  if (!result.ok) return result.message
  if (moving > 0 && namesPhase(action)) return MOVING
  // Another list of phases would make other fields of their paths.
  sendResting()
  if (movesPhases(action.kind)) moving++
  post({ type: 'steer', action })
  return undefined
}

/** Changes of the list of phases that the run has been asked for and has not answered. */
let moving = 0
const MOVING =
  'The list of phases is about to change with the next step: another one may stand here then. Try again after it.'

const movesPhases = (kind: SteeringAction['kind']): boolean =>
  kind !== 'set' && kind !== 'next_phase' && kind !== 'append_phase'

const namesPhase = (action: SteeringAction): boolean =>
  'index' in action || (action.kind === 'set' && action.path.startsWith('phases.'))

/** Goes on after broken steps, from the last sound state, with lower learning rates. Returns why it cannot, if so. */
export function goOnSlower(): string | undefined {
  const { run_experiment, phase } = labStore.getState()
  const rates = run_experiment ? lowerRates(run_experiment, phase) : []
  for (const { action } of rates) {
    const refused = steer(action)
    if (refused !== undefined) return refused
  }
  resume()
  return undefined
}

/** Adds a phase at the end: of the run that is on, else of the settings. */
export function appendPhase(phase: PhaseDocument): string | undefined {
  const state = labStore.getState()
  if (isBusy(state)) return steer({ kind: 'append_phase', phase })
  return editField('phases', [...state.experiment.phases, phase])
}

/** Takes a phase away that has not begun. */
export function removePhase(index: number): string | undefined {
  const state = labStore.getState()
  if (isBusy(state)) return steer({ kind: 'remove_phase', index })
  return editField('phases', state.experiment.phases.toSpliced(index, 1))
}

/** Moves a phase that has not begun. */
export function movePhase(index: number, to: number): string | undefined {
  const state = labStore.getState()
  if (isBusy(state)) return steer({ kind: 'move_phase', index, to })
  const { phases } = state.experiment
  return editField('phases', phases.toSpliced(index, 1).toSpliced(to, 0, phases[index]))
}

/** Forgets what the document says is to be done to the run. */
export const clearSteering = (): string | undefined => editField('steering', [])

/** Takes back what the settings show and the run does not do. */
export function discardEdits(): void {
  forgetEdits()
  const { run_experiment } = labStore.getState()
  if (run_experiment) edit({ experiment: run_experiment }, { kind: 'discard' })
}

/** What `trainSmaller` would train; undefined where there is no such experiment, or the page is locked. */
export const smallerNext = (state: LabState): Experiment | undefined =>
  lockedBecause('settings') === undefined ? smallerExperiment(nextExperiment(state)) : undefined

/** Puts half the batch into the settings, as an edit, and trains that. */
export function trainSmaller(): void {
  const experiment = smallerNext(labStore.getState())
  if (!experiment) return
  edit({ experiment, notices: [] }, { kind: 'smaller' })
  train()
}

/** Begins anew with what the settings show. */
export function restart(): void {
  reset()
  train()
}

/** Milliseconds that a live field must rest before it is sent: a slider passes many values. */
const REST_MS = 300
const resting = new Map<string, ReturnType<typeof setTimeout>>()

function forgetEdits(): void {
  for (const timer of resting.values()) clearTimeout(timer)
  resting.clear()
}

/** Sends what rests, because something else is about to be asked of the run. */
function sendResting(): void {
  const paths = [...resting.keys()]
  forgetEdits()
  for (const path of paths) sendField(path)
}

/** Has the run follow an edited field, where it can. */
function sendEdit(path: string): void {
  clearTimeout(resting.get(path))
  const send = () => {
    resting.delete(path)
    sendField(path)
  }
  resting.set(path, setTimeout(send, REST_MS))
}

function sendField(path: string): void {
  const { experiment, run_experiment, phase } = labStore.getState()
  if (!run_experiment) return
  const field = fieldAt(experiment, path)
  const before = fieldAt(run_experiment, path)
  if (!field || !before || !isSteerable(before, phase)) return
  const value = ownValue(field)
  if (value !== ownValue(before)) post({ type: 'steer', action: { kind: 'set', path, value } })
}

const fieldAt = (experiment: Experiment, path: string) =>
  experimentFields(experiment).find((field) => field.path === path)

/** null where a phase takes the experiment's. */
const ownValue = ({ value, is_overridden }: ReturnType<typeof experimentFields>[number]) =>
  is_overridden === false ? null : value

/** One training step, then a pause; begins a run where there is none. */
export function stepOnce(): void {
  const { status } = labStore.getState()
  if (!BUSY.includes(status)) start(true)
  post({ type: 'step' })
}

/** Measures the next step; begins a run where there is none, which then pauses. */
export function profileStep(): void {
  const { status } = labStore.getState()
  if (!BUSY.includes(status)) start(true)
  labStore.setState({ is_profiling: true })
  post({ type: 'profile' })
}

/** Asks the next step of reinforcement for its tokens; in a pause, takes one step. Only while a run is on. */
export function traceStep(): void {
  const { status } = labStore.getState()
  if (!BUSY.includes(status)) return
  labStore.setState({ is_tracing: true })
  post({ type: 'trace' })
  if (status === 'paused') post({ type: 'step' })
}

/** Measures this adapter. Only while no run is on. */
export function benchmark(): void {
  if (!connection?.isOpen) connect()
  labStore.setState({ benchmark: { status: 'running', message: 'Opening the GPU' } })
  post({ type: 'benchmark' })
}

/** The link that shows a result to someone else. */
export const cardLink = (card: ResultCard): string => `${page.address}#${encodeCard(card)}`

/** Drops the run: back to step 0. The same seed starts the same run again. */
export function reset(): void {
  takes_turns = false
  set_aside = undefined
  post({ type: 'stop' })
  const { run, adapter } = labStore.getState()
  const experiment = nextExperiment(labStore.getState())
  forgetEdits()
  // A new number, so that what the old run still sends is dropped.
  const status = adapter ? 'idle' : 'loading'
  labStore.setState({ ...emptyRun(), experiment, status, run: run + 1 })
  openAdapter()
}

/** Asks for the adapter where the page has none, of another worker where the last one has died. */
function openAdapter(): void {
  if (!connection?.isOpen) connect()
  else if (!labStore.getState().adapter) post({ type: 'open' })
}

/**
 * Shows a preset's experiment in the settings; a run that is on continues, one that is over makes room. False when there is none of
 * that id, or the page is locked.
 */
export function choosePreset(id: string): boolean {
  const preset = presetOf(id)
  if (!preset || lockedBecause('experiment') !== undefined) return false
  open({ experiment: preset.experiment, preset_id: id, notices: [] }, { kind: 'preset' })
  return true
}

/** Changes one field of the experiment; `undefined` brings its default back. Returns why it was refused, if so. */
export function editField(path: string, value: unknown): string | undefined {
  const locked = lockedBecause(lockOf(path))
  if (locked !== undefined) return locked
  if (moving > 0 && path.startsWith('phases.') && isBusy(labStore.getState())) return MOVING
  const result = withField(labStore.getState().experiment, path, value)
  if (!result.ok) return result.message
  edit({ experiment: result.experiment }, { kind: 'field', path })
  if (isBusy(labStore.getState())) sendEdit(path)
  return undefined
}

/**
 * taughtExperiment; where that is of the run, which measured its kernels, with these pinned, so that another measurement
 * cannot change its bits.
 */
export function repeatedExperiment(state: LabState): Experiment {
  const experiment = taughtExperiment(state)
  const is_of_run = nextExperiment(state) === state.run_document
  if (!is_of_run || state.kernels === '' || experiment.kernels !== '') return experiment
  const pinned = withField(experiment, 'kernels', state.kernels)
  // Too many of them for a field.
  return pinned.ok ? pinned.experiment : experiment
}

/**
 * The link that opens this experiment, what it holds, and what to tell the person who copies it. `hash` is what is to be looked
 * at (view.ts).
 */
export function shareLink(hash = ''): {
  readonly url: string
  readonly holds: readonly string[]
  readonly says: string
} {
  const state = labStore.getState()
  const document = nextExperiment(state)
  const experiment = repeatedExperiment(state)
  const changes = document.steering.length
  const holds = [
    'its seed',
    ...(taughtExperiment(state) === document ? [] : ['your verdicts']),
    ...(experiment.kernels === '' ? [] : ['its kernels']),
    ...(changes > 0 ? [`what was done to it (${changes})`] : []),
  ]
  const opens = `it opens this experiment with ${new Intl.ListFormat('en-GB').format(holds)}`
  const url = `${page.address}?${encodeLink(experiment)}${hash}`
  if (url.length <= MAX_LINK_LENGTH) return { url, holds, says: `${opens}.` }
  const says = `${opens}; with ${url.length} characters some programs cut it, so send it as a file.`
  return { url, holds, says }
}

/** Keeps the address equal to the experiment, at most every 300 ms. Returns how to stop. */
function syncAddress(replaceQuery: (query: string) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let written = nextExperiment(labStore.getState())
  let seen = labStore.getState()
  const unsubscribe = labStore.subscribe((state) => {
    const { experiment: settings, run_document } = state
    const is_same = settings === seen.experiment && run_document === seen.run_document
    seen = state
    if (is_same) return
    const experiment = nextExperiment(state)
    if (experiment === written) return
    written = experiment
    clearTimeout(timer)
    timer = setTimeout(() => replaceQuery(encodeLink(experiment)), 300)
  })
  return () => {
    clearTimeout(timer)
    unsubscribe()
  }
}
