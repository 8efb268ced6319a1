// Two runs in turns on one GPU: the living run, and a second one in a worker of its own that takes its step after each of the first.
import { createStore } from 'zustand/vanilla'
import { checkpointSettings } from '../checkpoints/settings.ts'
import type { Experiment } from '../experiment/experiment.ts'
import { newWorker } from '../page/client/browser_page.ts'
import { onLabEvent } from '../page/client/connection.ts'
import { pause, resume } from '../page/client/controls.ts'
import { recallKernels, rememberKernels } from '../page/client/lab.ts'
import { onWanted, wantedRequest } from '../page/client/observing.ts'
import { endTurns, giveTurn, newRecordId, trainInTurns } from '../page/client/starting.ts'
import { applyEvent } from '../page/events/apply.ts'
import type { LabPort } from '../page/port.ts'
import { emptyRun, initialState, type LabState, labStore } from '../page/store.ts'
import type { ObservationRequest } from '../protocol/observation.ts'
import type { LabCommand, LabEvent } from '../protocol/protocol.ts'
import type { Recorder } from './recorder.ts'

export interface Duel {
  /** The second run; undefined where there is none. */
  readonly second: LabState | undefined
  /** Its record, once it has begun. */
  readonly second_id: string | undefined
}

export const duelStore = createStore<Duel>(() => ({ second: undefined, second_id: undefined }))

/** What a duel needs of the page. */
export interface DuelPage {
  createPort(): LabPort
  /** Undefined where nothing can be recorded. */
  newRecorder(onBegun: (id: string) => void): Recorder | undefined
  /** Calls `flush` once, soon. */
  nextFrame(flush: () => void): void
  now(): number
}

const browserPage: Omit<DuelPage, 'newRecorder'> = {
  createPort: newWorker,
  nextFrame: (flush) => {
    setTimeout(flush, 50)
  },
  now: () => performance.now(),
}

const asksPeople = ({ phases }: Experiment): boolean =>
  phases.some((phase) => phase.kind === 'reward_model' && phase.pairs.source !== 'judge')

/** Why two experiments cannot run in turns and be told apart by nothing but their settings; undefined where they can. */
export function duelProblem(first: Experiment, second: Experiment): string | undefined {
  if (first.seed !== second.seed)
    return `The second experiment has seed ${second.seed}, the settings have seed ${first.seed}: with another seed the prompts differ too.`
  if (
    JSON.stringify(Object.entries(first.task).sort()) !==
    JSON.stringify(Object.entries(second.task).sort())
  )
    return 'The second experiment has another task, or the same with other parameters: then the prompts differ too.'
  if (asksPeople(first) || asksPeople(second))
    return 'One of them asks a person which answer is better. Runs in turns do not wait for people.'
  return undefined
}

let close: (() => void) | undefined
let tell: ((command: 'pause' | 'resume') => void) | undefined

/** Ends the second run. The living one goes on by itself, unless it is paused. */
export function endDuel(): void {
  close?.()
  close = undefined
  tell = undefined
  endTurns()
}

/** Both runs. */
export const pauseDuel = (): void => tell?.('pause')
export const resumeDuel = (): void => tell?.('resume')

const beginning = (experiment: Experiment, preset_id: string): LabState => ({
  ...initialState(),
  ...emptyRun(),
  adapter: labStore.getState().adapter,
  status: 'preparing',
  run: 1,
  record: newRecordId(),
  preset_id,
  experiment,
  run_experiment: experiment,
  run_document: experiment,
})

/**
 * Trains what the settings show as the living run, and `experiment` in turns with it. The second run begins after the first
 * training step of the first one, so that kernels are measured once.
 */
export function startDuel(
  experiment: Experiment,
  preset_id: string,
  page: Pick<DuelPage, 'newRecorder'> & Partial<DuelPage>,
): void {
  endDuel()
  const { createPort, nextFrame, now, newRecorder } = { ...browserPage, ...page }
  let port: LabPort | undefined
  let [is_first_over, is_second_over, is_paused] = [false, false, false]
  let pending: { event: LabEvent; at_ms: number }[] = []
  let sent_request = ''
  const recorder = newRecorder((second_id) => duelStore.setState({ second_id }))
  const set = (second: LabState) => {
    duelStore.setState({ second })
    recorder?.see(second)
  }
  const flush = () => {
    const events = pending
    pending = []
    const { second } = duelStore.getState()
    if (second && port)
      set(events.reduce((state, { event, at_ms }) => applyEvent(state, event, at_ms), second))
  }
  const post = (command: LabCommand) => port?.postMessage(command)

  const observe = (request: ObservationRequest) => {
    const text = JSON.stringify(request)
    if (!port || text === sent_request) return
    sent_request = text
    post({ type: 'observe', request })
  }

  const hearSecond = (event: LabEvent) => {
    if (event.type === 'kernels' && event.cache !== undefined) rememberKernels(event.cache)
    if (pending.push({ event, at_ms: now() }) === 1) nextFrame(flush)
    const is_over =
      event.type === 'failed' || (event.type === 'status' && event.status === 'finished')
    if (is_over && !is_second_over) {
      is_second_over = true
      endTurns()
    } else if (event.type === 'step' && event.step > 0 && !is_first_over && !is_paused) giveTurn()
  }
  const open = () => {
    const own = createPort()
    port = own
    own.addEventListener('message', ({ data }) => {
      if (port === own) hearSecond(data)
    })
    const die = (message: string) => {
      if (port !== own) return
      const error = { name: 'WorkerError', code: 'worker', message } as const
      hearSecond({ type: 'failed', run: undefined, error })
    }
    own.addEventListener('error', ({ message }) =>
      die(message || 'The worker could not be loaded.'),
    )
    own.addEventListener('messageerror', () => die('A message of the worker was unreadable.'))
    const kernel_cache = recallKernels()
    const checkpoints = checkpointSettings()
    const record = duelStore.getState().second?.record ?? newRecordId()
    // What panels show of the first run is kept of the second one too, for its record.
    const observe = wantedRequest()
    sent_request = JSON.stringify(observe)
    const start = { record, experiment, paused: true, checkpoints, kernel_cache, observe }
    post({ type: 'start', run: 1, ...start })
  }
  const turnOfSecond = () => {
    if (is_second_over || is_paused) return
    if (!port) open()
    // Alone it needs no turns.
    post({ type: is_first_over ? 'resume' : 'turn' })
  }
  const hold = (is_held: boolean) => {
    is_paused = is_held
    if (is_held) post({ type: 'pause' })
  }

  trainInTurns()
  const { run } = labStore.getState()
  set(beginning(experiment, preset_id))
  const stopHearing = onLabEvent((event) => {
    if (!('run' in event) || event.run !== run) return
    if (event.type === 'step' && event.step > 0) turnOfSecond()
    else if (event.type === 'failed' || (event.type === 'status' && event.status === 'finished')) {
      is_first_over = true
      turnOfSecond()
    } else if (event.type === 'status') hold(event.status === 'paused')
  })
  const stopWanted = onWanted(observe)
  // Another run, or none.
  const stopWatching = labStore.subscribe((state) => {
    if (state.run !== run) endDuel()
  })
  tell = (command) => {
    if (!is_first_over) {
      if (command === 'pause') pause()
      else resume()
      return
    }
    hold(command === 'pause')
    if (command === 'resume') turnOfSecond()
  }
  close = () => {
    stopHearing()
    stopWanted()
    stopWatching()
    flush()
    port?.terminate()
    port = undefined
    recorder?.close()
    duelStore.setState({ second: undefined, second_id: undefined })
  }
}
