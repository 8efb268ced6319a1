// Trains two runs in turns on one GPU: the current run, and a second one in a worker of its own
// that takes its step after each of the first.
import { createStore } from 'zustand/vanilla'
import { asksPerson } from '../../../document/experiment/fields/pairs_fields.ts'
import { isPairedDocument } from '../../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { unopenedModel } from '../../../host/content/models/unopened.ts'
import type { ObservationRequest } from '../../../host/protocol/observation.ts'
import type { LabCommand, LabEvent } from '../../../host/protocol/protocol.ts'
import { newWorker } from '../../client/browser_page.ts'
import { pause, resume } from '../../client/controls.ts'
import { recallKernels, rememberKernels } from '../../client/lab.ts'
import { onWanted, wantedRequest } from '../../client/observing.ts'
import { endTurns, giveTurn, newRecordId, trainInTurns } from '../../client/starting.ts'
import { onLabEvent } from '../../connection/connection.ts'
import type { LabPort } from '../../connection/port.ts'
import { applyEvent } from '../../events/apply.ts'
import { checkpointSettings } from '../../state/checkpoint_settings.ts'
import { emptyRun, initialState, type LabState, labStore } from '../../state/store.ts'
import type { Recorder } from '../recorder/recorder.ts'

export interface Duel {
  /** The second run; undefined where there is none. */
  readonly second: LabState | undefined
  /** Its record, once it has begun. */
  readonly secondId: string | undefined
}

export const duelStore = createStore<Duel>(() => ({ second: undefined, secondId: undefined }))

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
  phases.some((phase) => isPairedDocument(phase) && asksPerson(phase.pairs))

/** Why two experiments cannot run in turns and be told apart by nothing but their settings;
 * undefined where they can. */
export function duelProblem(first: Experiment, second: Experiment): string | undefined {
  if (first.seed !== second.seed)
    return `The second experiment has seed ${second.seed}, the settings have seed ${first.seed}: with another seed the prompts differ too.`
  if (
    JSON.stringify(Object.entries(first.task).sort()) !==
    JSON.stringify(Object.entries(second.task).sort())
  )
    return 'The second experiment has another task, or the same with other parameters: then the prompts differ too.'
  const unopened = unopenedModel(first) ?? unopenedModel(second)
  if (unopened !== undefined)
    return `One of them begins with ${unopened}, which has to be opened first.`
  if (asksPeople(first) || asksPeople(second))
    return 'One of them asks a person which answer is better. Runs in turns do not wait for people.'
  return undefined
}

let living: RunningDuel | undefined

/** Ends the second run. The current run continues alone, unless it is paused. */
export function endDuel(): void {
  living?.close()
  living = undefined
  endTurns()
}

/** Both runs. */
export const pauseDuel = (): void => living?.tell('pause')
export const resumeDuel = (): void => living?.tell('resume')

const beginning = (experiment: Experiment, preset_id: string): LabState => ({
  ...initialState(),
  ...emptyRun(),
  adapter: labStore.getState().adapter,
  status: 'preparing',
  run: 1,
  record: newRecordId(),
  preset_id,
  experiment,
  runExperiment: experiment,
  runDocument: experiment,
})

/** Trains what the settings show as the current run, and `experiment` in turns with it. The second
 * run begins after the first training step of the first one, which does not wait for it. Both begin
 * with the same kernels; in turns nothing is measured. */
export function startDuel(
  experiment: Experiment,
  preset_id: string,
  page: Pick<DuelPage, 'newRecorder'> & Partial<DuelPage>,
): void {
  endDuel()
  trainInTurns(() => {
    living = new RunningDuel(experiment, preset_id, { ...browserPage, ...page })
  })
}

/** The two runs while they take turns: hears the first, and opens and commands the second. */
class RunningDuel {
  readonly #experiment: Experiment
  readonly #page: DuelPage
  readonly #recorder: Recorder | undefined
  /** The first run. */
  readonly #run: number
  readonly #stops: readonly (() => void)[]
  /** Of the second run. */
  #port: LabPort | undefined
  #isFirstOver = false
  #isSecondOver = false
  #isPaused = false
  #pending: { event: LabEvent; at_ms: number }[] = []
  #sentRequest = ''

  constructor(experiment: Experiment, preset_id: string, page: DuelPage) {
    this.#experiment = experiment
    this.#page = page
    this.#recorder = page.newRecorder((secondId) => duelStore.setState({ secondId }))
    this.#run = labStore.getState().run
    this.#set(beginning(experiment, preset_id))
    this.#stops = [
      onLabEvent((event) => this.#hearFirst(event)),
      onWanted((request) => this.#observe(request)),
      // Another run, or none.
      labStore.subscribe((state) => {
        if (state.run !== this.#run) endDuel()
      }),
    ]
  }

  tell(command: 'pause' | 'resume'): void {
    if (!this.#isFirstOver) {
      if (command === 'pause') pause()
      else resume()
      return
    }
    this.#hold(command === 'pause')
    if (command === 'resume') this.#turnOfSecond()
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#flush()
    this.#port?.terminate()
    this.#port = undefined
    this.#recorder?.close()
    duelStore.setState({ second: undefined, secondId: undefined })
  }

  #set(second: LabState): void {
    duelStore.setState({ second })
    this.#recorder?.see(second)
  }

  #flush(): void {
    const events = this.#pending
    this.#pending = []
    const { second } = duelStore.getState()
    if (second && this.#port)
      this.#set(events.reduce((state, { event, at_ms }) => applyEvent(state, event, at_ms), second))
  }

  #post(command: LabCommand): void {
    this.#port?.postMessage(command)
  }

  #observe(request: ObservationRequest): void {
    const text = JSON.stringify(request)
    if (!this.#port || text === this.#sentRequest) return
    this.#sentRequest = text
    this.#post({ type: 'observe', request })
  }

  #hearFirst(event: LabEvent): void {
    if (!('run' in event) || event.run !== this.#run) return
    if (event.type === 'step' && event.step > 0) this.#turnOfSecond()
    else if (event.type === 'failed' || (event.type === 'status' && event.status === 'finished')) {
      this.#isFirstOver = true
      this.#turnOfSecond()
    } else if (event.type === 'status') this.#hold(event.status === 'paused')
  }

  #hearSecond(event: LabEvent): void {
    if ('cache' in event && event.cache !== undefined) rememberKernels(event.cache)
    if (this.#pending.push({ event, at_ms: this.#page.now() }) === 1)
      this.#page.nextFrame(() => this.#flush())
    const isOver =
      event.type === 'failed' || (event.type === 'status' && event.status === 'finished')
    if (isOver && !this.#isSecondOver) {
      this.#isSecondOver = true
      endTurns()
    } else if (event.type === 'step' && event.step > 0 && !this.#isFirstOver && !this.#isPaused)
      giveTurn()
  }

  /** Opens the second run in a worker of its own. */
  #open(): void {
    const own = this.#page.createPort()
    this.#port = own
    own.addEventListener('message', ({ data }) => {
      if (this.#port === own) this.#hearSecond(data)
    })
    const die = (message: string) => {
      if (this.#port !== own) return
      const error = { name: 'WorkerError', code: 'worker', message } as const
      this.#hearSecond({ type: 'failed', run: undefined, error })
    }
    own.addEventListener('error', ({ message }) =>
      die(message || 'The worker could not be loaded.'),
    )
    own.addEventListener('messageerror', () => die('A message of the worker was unreadable.'))
    const experiment = this.#experiment
    const kernel_cache = recallKernels()
    const checkpoints = checkpointSettings()
    const record = duelStore.getState().second?.record ?? newRecordId()
    // What panels show of the first run is kept of the second one too, for its record.
    const observe = wantedRequest()
    this.#sentRequest = JSON.stringify(observe)
    const start = { record, experiment, paused: true, checkpoints, kernel_cache, observe }
    this.#post({ type: 'start', run: 1, ...start })
  }

  #turnOfSecond(): void {
    if (this.#isSecondOver || this.#isPaused) return
    if (!this.#port) this.#open()
    // Alone it needs no turns.
    this.#post({ type: this.#isFirstOver ? 'resume' : 'turn' })
  }

  #hold(isHeld: boolean): void {
    this.#isPaused = isHeld
    if (isHeld) this.#post({ type: 'pause' })
  }
}
