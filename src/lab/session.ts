// The loop around the trainer: commands in, events out. Knows neither the worker nor the GPU, so Node can test it.
import type { GpuError } from '../kernels/errors.ts'
import type { AdapterFacts, GpuCounts } from '../kernels/gpu.ts'
import type { MemoryKind } from '../kernels/tensor.ts'
import type { Preferences } from '../rl/preferences.ts'
import type { PhaseStart, StepResult } from '../rl/trainer.ts'
import { type Experiment, parseExperiment } from './experiment.ts'
import { chooseKernels, type MatmulNeeds } from './kernel_choice.ts'
import {
  asksMore,
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from './observation.ts'
import { ownKernels, pinnedKernels, unusablePin, writeKernels } from './pinned_kernels.ts'
import type {
  BenchmarkNumbers,
  LabCommand,
  LabError,
  LabEvent,
  MatmulChoice,
  Peak,
  Profile,
  RolloutSample,
  RunStatus,
} from './protocol.ts'
import { type Seen, seenTogether } from './seen.ts'
import type { Steered } from './steered_run.ts'
import type { SteeringAction } from './steering.ts'
import { writeVerdicts } from './verdicts.ts'

/** What the loop needs of a trainer. */
export interface RunTrainer {
  readonly isFinished: boolean
  /** Queues one step; its numbers follow. The first is step 0, before training. */
  queue(): Promise<{ readonly result: Promise<StepResult> }>
  /** Asks for an action before the next step that is queued. */
  steer(action: SteeringAction): void
  /** Does what is due before the next step; to be called before `isFinished` is asked. */
  obey(): Promise<readonly Steered[]>
  /** The next step of reinforcement brings its token table. */
  traceNext(): void
  /** What steps are to show of the inside from now on. */
  observe(request: ObservationRequest): void
  /** The same of the present state, between two steps; undefined where nothing is asked for. */
  observeNow(): Promise<Observation | undefined>
  /** Steps queued so far. */
  readonly step: number
  readonly phase: number
  /** Prepares the next step, into its phase if need be. False while that waits for a person's verdicts. */
  ready(): Promise<boolean>
  readonly isWaiting: boolean
  /** The phase that has begun and that no step has told of. */
  takePhaseStart(): PhaseStart | undefined
  /** Of a reward_model phase. */
  readonly preferences: Pick<Preferences, 'config' | 'pending' | 'given' | 'log'> | undefined
  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean
  undoVerdict(): boolean
}

/** A run that is ready to step. */
export interface OpenRun {
  readonly trainer: RunTrainer
  readonly counts: GpuCounts
  /** Resolves when the device is lost. */
  readonly lost: Promise<GpuError>
  memory(): Record<MemoryKind, number>
  /** Does the work and measures it; changes none of its results. */
  profile<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly profile: Profile }>
}

/** The device of a run, before there is a trainer. */
export interface RunDevice extends MatmulNeeds {
  /** Features that a variant requires and this device has not. */
  missing(variant: string): readonly string[]
  /** Measures the classes that `pinned` leaves open, for about a second. */
  tune(pinned: MatmulChoice): Promise<MatmulChoice>
  /** Makes the trainer; without `matmul` on the default kernels. */
  start(matmul: MatmulChoice | undefined, onProgress: (message: string) => void): Promise<OpenRun>
  /** Frees everything, the trainer included. */
  destroy(): void
}

/** What a session is given: the GPU side, a way out for events, and a clock. */
export interface SessionHost {
  open(): Promise<AdapterFacts>
  prepare(experiment: Experiment): Promise<RunDevice>
  /** Of the app and of the browser: what was measured under another one is measured anew. */
  readonly version: string
  /** The largest rates of the adapter; undefined where they cannot be probed. */
  peak(): Promise<Peak | undefined>
  benchmark(onProgress: (message: string) => void): Promise<BenchmarkNumbers>
  post(event: LabEvent): void
  /** Milliseconds. */
  now(): number
}

/** The settings were refused before anything was allocated. */
export class ExperimentError extends Error {
  override name = 'ExperimentError'
}

/** An error as plain data; a GpuError keeps its code. */
export function labError(error: unknown): LabError {
  if (!(error instanceof Error)) return { name: 'Error', code: 'internal', message: `${error}` }
  const { name, message } = error
  if (name === 'GpuError') return { name, code: (error as GpuError).code, message }
  if (name === 'ExperimentError' || name === 'NoPairsError')
    return { name, code: 'experiment', message }
  return { name, code: 'internal', message }
}

const SAMPLES_MS = 500
const MEMORY_MS = 1000
/** Responses of one step that cross to the page at most. */
const MAX_SAMPLES = 256
/** Pairs in line that cross to the page at a time. */
const SHOWN_PAIRS = 4

/** One run at a time. A new one waits until the step in flight of the old one is done and its memory freed. */
export class Session {
  readonly #host: SessionHost
  #run: Run | undefined
  #tail: Promise<void> = Promise.resolve()

  constructor(host: SessionHost) {
    this.#host = host
  }

  /** Acts on a command. Never throws: what goes wrong is posted as `failed`. */
  handle(command: LabCommand): void {
    switch (command.type) {
      case 'open':
        this.#then(() => this.#open())
        return
      case 'start': {
        this.#run?.stop()
        const run = new Run(this.#host, command)
        this.#run = run
        this.#then(() => run.drive())
        return
      }
      case 'pause':
        this.#run?.pause()
        return
      case 'resume':
        this.#run?.resume()
        return
      case 'step':
        this.#run?.stepOnce()
        return
      case 'turn':
        this.#run?.takeTurn()
        return
      case 'profile':
        this.#run?.profileOnce()
        return
      case 'trace':
        this.#run?.traceOnce()
        return
      case 'observe':
        this.#run?.observe(command.request)
        return
      case 'benchmark':
        this.#then(() => this.#benchmark())
        return
      case 'next_phase':
        this.#run?.steer({ kind: 'next_phase' })
        return
      case 'steer':
        this.#run?.steer(command.action)
        return
      case 'verdict':
        this.#run?.decide(command.id, command.choice)
        return
      case 'undo_verdict':
        this.#run?.undoVerdict()
        return
      case 'stop':
        this.#run?.stop()
        this.#run = undefined
        return
      default:
        command satisfies never
    }
  }

  /** Resolves when everything asked for so far is done. */
  get idle(): Promise<void> {
    return this.#tail
  }

  #then(work: () => Promise<void>): void {
    this.#tail = this.#tail.then(work)
  }

  async #open(): Promise<void> {
    try {
      this.#host.post({ type: 'adapter', adapter: await this.#host.open() })
    } catch (error) {
      this.#host.post({ type: 'failed', run: undefined, error: labError(error) })
    }
  }

  async #benchmark(): Promise<void> {
    const { post } = this.#host
    try {
      const numbers = await this.#host.benchmark((message) =>
        post({ type: 'benchmark_progress', message }),
      )
      post({ type: 'benchmark', numbers })
    } catch (error) {
      post({ type: 'benchmark_failed', error: labError(error) })
    }
  }
}

type Start = Extract<LabCommand, { type: 'start' }>

class Run {
  readonly #host: SessionHost
  readonly #id: number
  readonly #document: unknown
  readonly #kernel_cache: string | undefined
  /** Steps to take before pausing. */
  #budget: number
  /** Between two turns a run waits without being paused. */
  #takes_turns = false
  #is_stopped = false
  /** What is to be done before the next step. */
  #asked: SteeringAction[] = []
  #wants_profile = false
  #wants_trace = false
  #request: ObservationRequest
  /** What the trainer has been told of it. */
  #told: ObservationRequest = NO_OBSERVATION
  /** Of the last step that was observed. */
  #observed: Seen | undefined
  #status: RunStatus = 'preparing'
  #wake: () => void = () => {}
  #memory_at = Number.NEGATIVE_INFINITY
  #samples_at = Number.NEGATIVE_INFINITY
  /** Samples of the newest step, not posted yet. */
  #held: { step: number; samples: readonly RolloutSample[] } | undefined
  #trainer: RunTrainer | undefined
  /** The phase whose pairs were posted. */
  #pairs_of: number | undefined

  constructor(host: SessionHost, { run, experiment, paused, kernel_cache, observe }: Start) {
    this.#host = host
    this.#id = run
    this.#document = experiment
    this.#kernel_cache = kernel_cache
    this.#budget = paused ? 0 : Number.POSITIVE_INFINITY
    this.#request = observe ?? NO_OBSERVATION
  }

  pause(): void {
    this.#budget = 0
    this.#takes_turns = false
    this.#wake()
  }

  resume(): void {
    this.#budget = Number.POSITIVE_INFINITY
    this.#takes_turns = false
    this.#wake()
  }

  stepOnce(): void {
    this.#budget = 1
    this.#takes_turns = false
    this.#wake()
  }

  takeTurn(): void {
    this.#budget = 1
    this.#takes_turns = true
    this.#wake()
  }

  /** The next step is measured. */
  profileOnce(): void {
    this.#wants_profile = true
    this.#wake()
  }

  /** The next step of reinforcement is told of token by token. Takes none by itself. */
  traceOnce(): void {
    this.#wants_trace = true
    this.#wake()
  }

  /** What is shown of the steps to come, and of the present one in a pause. */
  observe(request: ObservationRequest): void {
    this.#request = request
    this.#wake()
  }

  steer(action: SteeringAction): void {
    this.#asked.push(action)
    this.#wake()
  }

  decide(id: number, choice: 'a' | 'b' | 'skip'): void {
    if (this.#trainer?.decide(id, choice)) this.#reportPairs()
    this.#wake()
  }

  undoVerdict(): void {
    if (this.#trainer?.undoVerdict()) this.#reportPairs()
    this.#wake()
  }

  stop(): void {
    this.#is_stopped = true
    this.#wake()
  }

  /** From preparation to the end. The one place where an error of a run becomes a `failed` event. */
  async drive(): Promise<void> {
    const run = this.#id
    let device: RunDevice | undefined
    try {
      if (this.#is_stopped) return
      this.#setStatus('preparing')
      const parsed = parseExperiment(this.#document)
      if (!parsed.ok) {
        const said = parsed.issues.map(({ path, message }) => `${path}: ${message}`)
        throw new ExperimentError(said.join('\n'))
      }
      this.#say('Opening the GPU')
      device = await this.#host.prepare(parsed.experiment)
      if (this.#is_stopped) return
      const matmul = await this.#kernels(device, parsed.experiment)
      if (this.#is_stopped) return
      const open = await device.start(matmul, (message) => this.#say(message))
      const lost = open.lost.then((error) => {
        this.#is_stopped = true
        throw error
      })
      await Promise.race([this.#loop(open), lost])
    } catch (error) {
      this.#is_stopped = true
      this.#host.post({ type: 'failed', run, error: labError(error) })
    } finally {
      device?.destroy()
    }
  }

  #say(message: string): void {
    this.#host.post({ type: 'progress', run: this.#id, message })
  }

  /** The kernels of the matrix products, pinned, remembered or measured; undefined for the default ones. */
  async #kernels(device: RunDevice, experiment: Experiment): Promise<MatmulChoice | undefined> {
    const pinned = pinnedKernels(experiment)
    if (!pinned) return this.#chooseKernels(device)
    const problem = unusablePin(pinned, (variant) => device.missing(variant))
    if (problem !== undefined) throw new ExperimentError(problem)
    if (Object.keys(pinned).length === 0) return undefined
    const kernels = writeKernels(pinned)
    this.#host.post({ type: 'kernels', run: this.#id, matmul: pinned, kernels })
    return pinned
  }

  async #chooseKernels(device: RunDevice): Promise<MatmulChoice | undefined> {
    const tune = async (pinned: MatmulChoice) => {
      this.#say('Measuring matrix products')
      try {
        return await device.tune(pinned)
      } catch (error) {
        if (labError(error).code === 'lost') throw error
        // What cannot be measured is no reason not to train: the default kernels work everywhere.
        return {}
      }
    }
    const choice = await chooseKernels(device, this.#host.version, this.#kernel_cache, tune)
    if (!choice || this.#is_stopped) return choice?.matmul
    const kernels = writeKernels(ownKernels(choice.matmul, device.defaults))
    this.#host.post({ type: 'kernels', run: this.#id, kernels, ...choice })
    return choice.matmul
  }

  /** Steps while there is budget. The next step is queued before the numbers of the last one are awaited. */
  async #loop(open: OpenRun): Promise<void> {
    const { trainer } = open
    this.#trainer = trainer
    let in_flight:
      | { readonly result: Promise<StepResult>; readonly request: ObservationRequest }
      | undefined
    const land = async () => {
      const flown = in_flight
      const result = await flown?.result
      in_flight = undefined
      if (flown && result && !this.#is_stopped) this.#report(result, open, flown.request)
      // Step 0 is no training step.
      return result !== undefined && result.step > 0
    }
    this.#reportMemory(open)
    while (!this.#is_stopped) {
      for (const action of this.#asked.splice(0)) trainer.steer(action)
      for (const done of await trainer.obey())
        this.#host.post({ type: 'steered', run: this.#id, ...done })
      if (this.#wants_trace) trainer.traceNext()
      this.#wants_trace = false
      this.#tellRequest(trainer)
      if (trainer.isFinished) {
        await land()
        await this.#observePresent(trainer)
        this.#flush(open)
        this.#setStatus('finished')
        return
      }
      if (this.#budget === 0 && !this.#wants_profile) {
        await land()
        if (this.#hasOrders) continue
        this.#flush(open)
        const is_between = this.#takes_turns
        if (!is_between) this.#setStatus('paused')
        await this.#observePresent(trainer)
        await this.#awaken(
          () => this.#hasOrders || this.#request !== this.#told || this.#takes_turns !== is_between,
        )
        continue
      }
      if (this.#status !== 'waiting') this.#setStatus('running')
      const is_ready = await trainer.ready()
      if (this.#pairs_of !== trainer.phase && trainer.preferences) this.#reportPairs()
      if (!is_ready) {
        await land()
        this.#tellPhase(trainer.step, trainer.takePhaseStart())
        this.#flush(open)
        this.#setStatus('waiting')
        await this.#observePresent(trainer)
        await this.#awaken(
          () =>
            this.#request !== this.#told ||
            !trainer.isWaiting ||
            this.#asked.length > 0 ||
            (this.#budget === 0 && !this.#wants_profile),
        )
        continue
      }
      if (this.#wants_profile) {
        await land()
        this.#wants_profile = false
        if (!this.#is_stopped) await this.#profile(open)
        continue
      }
      this.#setStatus('running')
      const { result } = await trainer.queue()
      result.catch(() => {}) // awaited when it lands, or the run is over
      await land()
      in_flight = { result, request: this.#told }
      if (this.#budget === Number.POSITIVE_INFINITY) continue
      if (await land()) this.#budget = Math.max(0, this.#budget - 1)
    }
  }

  #tellRequest(trainer: RunTrainer): void {
    if (this.#request === this.#told) return
    this.#told = this.#request
    trainer.observe(this.#request)
  }

  /** Shows the state between two steps, unless its step has shown all that is asked for. */
  async #observePresent(trainer: RunTrainer): Promise<void> {
    const { step } = trainer
    const known = this.#observed?.step === step ? this.#observed.request : NO_OBSERVATION
    if (this.#is_stopped || !asksMore(this.#told, known)) return
    const observation = await trainer.observeNow()
    if (observation && !this.#is_stopped) this.#reportObservation(step, observation, this.#told)
  }

  #reportObservation(step: number, observation: Observation, request: ObservationRequest): void {
    this.#observed = seenTogether(this.#observed, { step, request, observation })
    const { observation: all } = this.#observed
    this.#host.post({ type: 'observed', run: this.#id, step, observation: all })
  }

  /** One training step alone on the GPU; step 0 before it, which is none, is not measured. */
  async #profile(open: OpenRun): Promise<void> {
    const { trainer } = open
    this.#setStatus('running')
    for (;;) {
      if (!(await trainer.ready())) {
        // Measured once there is something to do.
        this.#wants_profile = true
        return
      }
      const { result, profile } = await open.profile(async () => (await trainer.queue()).result)
      if (this.#is_stopped) return
      this.#report(result, open, this.#told)
      const { step } = result
      if (step === 0 && !trainer.isFinished) continue
      const peak = await this.#host.peak()
      if (!this.#is_stopped)
        this.#host.post({ type: 'profile', run: this.#id, step, profile, peak })
      return
    }
  }

  /** There is something to do in a pause. */
  get #hasOrders(): boolean {
    return this.#budget > 0 || this.#asked.length > 0 || this.#wants_profile
  }

  /** Sleeps until a command comes, unless there is something to do already. */
  #awaken(hasWork: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      // A command may have come between the decision to sleep and now.
      if (hasWork() || this.#is_stopped) resolve()
    })
  }

  #setStatus(status: RunStatus): void {
    if (this.#is_stopped || (status === this.#status && status !== 'preparing')) return
    this.#status = status
    this.#host.post({ type: 'status', run: this.#id, status })
  }

  /** `request`: what the step was asked to show. */
  #report(result: StepResult, open: OpenRun, request: ObservationRequest): void {
    const run = this.#id
    const { step, phase, phase_step, metrics, samples, scored_pairs, trace, phase_started } = result
    const { observation } = result
    this.#tellPhase(Math.max(0, step - 1), phase_started)
    this.#host.post({ type: 'step', run, step, phase, phase_step, metrics })
    if (observation) this.#reportObservation(step, observation, request)
    if (trace) this.#host.post({ type: 'trace', run, step, table: trace })
    if (scored_pairs?.length)
      this.#host.post({ type: 'scored_pairs', run, step, pairs: scored_pairs })
    if (samples.length > 0) this.#held = { step, samples: samples.slice(0, MAX_SAMPLES) }
    const now = this.#host.now()
    if (now - this.#samples_at >= SAMPLES_MS) this.#reportSamples()
    if (step === 1 || now - this.#memory_at >= MEMORY_MS) this.#reportMemory(open)
  }

  #tellPhase(step: number, started: PhaseStart | undefined): void {
    if (started && !this.#is_stopped)
      this.#host.post({ type: 'phase', run: this.#id, step, ...started })
  }

  #reportPairs(): void {
    const { phase, preferences } = this.#trainer ?? {}
    if (phase === undefined || !preferences || this.#is_stopped) return
    this.#pairs_of = phase
    const { config, pending, given, log } = preferences
    this.#host.post({
      type: 'pairs',
      run: this.#id,
      phase,
      pairs: pending.slice(0, SHOWN_PAIRS),
      pending: pending.length,
      given,
      min_pairs: config.source === 'human' && config.verdicts.length === 0 ? config.min_pairs : 0,
      verdicts: writeVerdicts(log),
    })
  }

  /** What the limits held back. */
  #flush(open: OpenRun): void {
    if (this.#is_stopped) return
    this.#reportSamples()
    if (this.#host.now() > this.#memory_at) this.#reportMemory(open)
  }

  #reportSamples(): void {
    if (!this.#held) return
    this.#samples_at = this.#host.now()
    this.#host.post({ type: 'samples', run: this.#id, ...this.#held })
    this.#held = undefined
  }

  #reportMemory(open: OpenRun): void {
    this.#memory_at = this.#host.now()
    this.#host.post({
      type: 'memory',
      run: this.#id,
      memory: open.memory(),
      counts: { ...open.counts },
    })
  }
}
