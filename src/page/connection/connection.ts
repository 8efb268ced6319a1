// Keeps the connection to the worker: commands go out, any number of events come in, and one store
// update per frame leaves.
import type { LabCommand, LabError, LabEvent } from '../../host/protocol/protocol.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import type { applyEvent } from '../events/apply.ts'
import { labStore } from '../state/store.ts'
import type { LabPage, LabPort } from './port.ts'

export interface Connection {
  readonly port: LabPort
  /** False once it was closed or has died. */
  isOpen: boolean
  /** When it said something last. */
  heardAt: number
  /** It says every now and then that it is there: a worker does, a recording does not. */
  isBeating: boolean
}

/** Between two looks at whether the worker still says something. */
const WATCH_MS = 2000
/** A worker that says nothing for so long hangs. */
export const SILENT_MS = 20_000

/** What the rest of the client does when the worker says something or dies. */
export interface Reactions {
  /** A worker was started, and has said nothing yet. */
  onConnect(): void
  /** After the hearers of `onLabEvent`, when the event is on its way to the store. */
  onEvent(event: LabEvent): void
  /** Whether another worker takes the place of the one that died. */
  replaces(dead: Connection, message: string): boolean
}

type Apply = typeof applyEvent

let applies: Apply | undefined
/** What an event does to the state comes beside the worker, which takes longer. */
const loading = import('../events/apply.ts').then(({ applyEvent }) => {
  applies = applyEvent
  return applyEvent
})

/** Resolves once events change the store without a delay. */
export const eventsLoaded = async (): Promise<void> => void (await loading)

/** At once where it has come. */
function withApply(act: (apply: Apply) => void): void {
  if (applies) return act(applies)
  loading.then(act, () => labStore.setState({ status: 'failed', error: NOT_LOADED }))
}

const NOT_LOADED: LabError = {
  name: 'WorkerError',
  code: 'worker',
  message: 'The worker could not be loaded.',
}

let watch: ReturnType<typeof setInterval> | undefined
let createPort: () => LabPort
let page: LabPage
let reactions: Reactions
let connection: Connection | undefined

/** The page that the client was opened on. */
export const labPage = (): LabPage => page
/** What makes the port that is in use. */
export const portMaker = (): (() => LabPort) => createPort

/** Whether there is a worker that takes commands. */
export const isConnected = (): boolean => connection?.isOpen ?? false

/** Ports come from `worker` from the next `connect` on. */
export function wire(worker: () => LabPort, on: LabPage, react: Reactions): void {
  createPort = worker
  page = on
  reactions = react
}

/** Ends the worker and forgets it. */
export function disconnect(): void {
  clearInterval(watch)
  connection?.port.terminate()
  if (connection) connection.isOpen = false
  connection = undefined
}

/** Starts a worker and wires it to the store: any number of events arrive, one update per frame
 * leaves. */
export function connect(): void {
  reactions.onConnect()
  let pending: { event: LabEvent; at_ms: number }[] = []
  const applyPending = (apply: Apply) => {
    const events = pending
    pending = []
    if (!own.isOpen) return
    labStore.setState(
      events.reduce((state, { event, at_ms }) => apply(state, event, at_ms), labStore.getState()),
    )
  }
  const flush = () => withApply(applyPending)
  const die = (message: string) => {
    if (!own.isOpen) return
    flush()
    own.isOpen = false
    own.port.terminate()
    if (!reactions.replaces(own, message)) fail({ ...NOT_LOADED, message })
  }
  const own: Connection = {
    port: createPort(),
    isOpen: true,
    heardAt: page.now(),
    isBeating: false,
  }
  connection = own
  watchOver(own, die)
  own.port.addEventListener('message', ({ data }) => {
    own.heardAt = page.now()
    if (data.type === 'alive') {
      own.isBeating = true
      return
    }
    if (!own.isOpen) return
    for (const hear of hearers) hear(data)
    const at_ms = own.port.now?.() ?? page.now()
    if (pending.push({ event: data, at_ms }) === 1) page.nextFrame(flush)
    reactions.onEvent(data)
  })
  own.port.addEventListener('error', ({ message }) => die(message || NOT_LOADED.message))
  own.port.addEventListener('messageerror', () => die('A message of the worker was unreadable.'))
  post({ type: 'open' })
}

/** A worker that hangs while a run is on is given up. */
function watchOver(own: Connection, die: (message: string) => void): void {
  clearInterval(watch)
  let lookedAt = page.now()
  watch = setInterval(() => {
    const now = page.now()
    // The page itself slept: nothing is known of the worker.
    if (now - lookedAt > 2 * WATCH_MS) own.heardAt = now
    lookedAt = now
    const silentMs = now - own.heardAt
    if (own.isBeating && silentMs >= SILENT_MS && isBusy(labStore.getState()))
      die(`The worker has not answered for ${Math.round(silentMs / 1000)} seconds.`)
  }, WATCH_MS)
}

/** Changes the store by an event that the page itself reports. */
export const tellStore = (event: LabEvent): void =>
  withApply((apply) => labStore.setState((state) => apply(state, event, page.now())))

const fail = (error: LabError) => tellStore({ type: 'failed', run: undefined, error })

/** Tells the worker, if one is there. */
export function post(command: LabCommand, transfer: Transferable[] = []): void {
  if (connection?.isOpen) connection.port.postMessage(command, transfer)
}

const hearers = new Set<(event: LabEvent) => void>()

/** Hears every event of the worker as it arrives, before the store has it. Returns how to stop. */
export function onLabEvent(hear: (event: LabEvent) => void): () => void {
  hearers.add(hear)
  return () => hearers.delete(hear)
}
