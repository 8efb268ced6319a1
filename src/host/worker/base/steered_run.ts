// Steers a training run that obeys steering: what its document says, and what is asked of it while
// it runs. Knows neither the worker nor the GPU.

import { sameSettings, steerExperiment } from '../../../document/experiment/experiment.ts'
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { plannedTotal } from '../../../document/experiment/steered/planned.ts'
import {
  MAX_STEERING,
  type SteeringAction,
  type SteeringEntry,
} from '../../../document/experiment/steering/actions.ts'
import { steeredKernels } from '../../../document/experiment/steering/steered_kernels.ts'
import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import type { TrainerConfig } from '../../../rl/config/trainer_config.ts'
import type { SteeredState } from '../../checkpoints/file/checkpoint.ts'
import {
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from '../../protocol/observation.ts'
import type { Engine, SteeredTrainer } from './steered_engine.ts'

/** Something that was done to the run, or refused. */
export interface Steered {
  readonly entry: SteeringEntry
  /** The experiment from the next step on. */
  readonly experiment: Experiment
  /** All that was done so far, and what the document still holds. */
  readonly steering: readonly SteeringEntry[]
  /** Why it was not done; then it is not in `steering`. */
  readonly refused?: string
}

const steeredConfig = (experiment: Experiment, done: readonly SteeringEntry[]): TrainerConfig => ({
  ...trainerConfig(experiment),
  matmul: steeredKernels(done),
})

const isSetAt = (entry: SteeringEntry, step: number): boolean =>
  entry.kind === 'set' && entry.step === step

/** Values by name, whatever their order. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort())
    : value

const trained = (experiment: Experiment): string =>
  JSON.stringify({ ...experiment, phases: resolvePhases(experiment) }, inOrder)

/** Whether two experiments train the same: a phase may say itself what it would take over. */
const trainsTheSame = (a: Experiment, b: Experiment): boolean =>
  sameSettings(a, b) || trained(a) === trained(b)

/** Why a value is refused that no step would see. */
const TOO_LATE = 'the run has taken its last step'

/** Whether a run that is over may take steps after it. */
const mayProlong = (action: SteeringAction): boolean =>
  action.kind !== 'set' || /^phases\.\d+\.(steps|epochs)$/.test(action.path)

const setsTheSame = (before: SteeringEntry, after: SteeringEntry): boolean =>
  before.kind === 'set' &&
  after.kind === 'set' &&
  before.step === after.step &&
  before.path === after.path

export class SteeredRun<T extends SteeredTrainer = SteeredTrainer> {
  /** The one at work: another one after a change that needs other buffers. */
  trainer: T
  /** As it is from the next step on. Its `steering` is empty. */
  experiment: Experiment
  readonly #engine: Engine<T>
  /** The document as it began; its `steering` is empty. */
  readonly #beginning: Experiment
  #done: SteeringEntry[] = []
  /** The experiment before what was asked for since the last step changed its value. */
  readonly #before = new WeakMap<SteeringEntry, Experiment>()
  /** Of the document, not done yet. */
  #due: SteeringEntry[]
  #asked: SteeringAction[] = []
  #isStarted = false
  /** The step after which a person ended the phase. */
  #endedAfter: number | undefined
  #wantsTrace = false
  #observed: ObservationRequest = NO_OBSERVATION
  /** The trainer's state is on its way into another one. */
  #isMoving = false
  /** States that are being read back. */
  #exports: Promise<unknown> = Promise.resolve()

  private constructor(engine: Engine<T>, trainer: T, document: Experiment) {
    this.#engine = engine
    this.trainer = trainer
    this.#beginning = { ...document, steering: [] }
    this.experiment = this.#beginning
    this.#due = [...document.steering]
  }

  static async begin<T extends SteeredTrainer>(
    engine: Engine<T>,
    document: Experiment,
  ): Promise<SteeredRun<T>> {
    return new SteeredRun(engine, await engine.create(trainerConfig(document)), document)
  }

  /** Continues from a state that another run has exported. Throws RangeError for a state of another
   * experiment. */
  static async resume<T extends SteeredTrainer = SteeredTrainer>(
    engine: Engine<T>,
    { trainer: state, experiment, document, done }: SteeredState,
  ): Promise<SteeredRun<T>> {
    const doneBefore = document.steering.slice(0, done)
    const trainer = await engine.create(steeredConfig(experiment, doneBefore), state)
    trainer.importState(state)
    const run = new SteeredRun(engine, trainer, document)
    run.experiment = experiment
    run.#done = run.#due.splice(0, done)
    run.#isStarted = state.is_started
    return run
  }

  /** The state of the run after the last step that was queued, captured before this returns
   * (Trainer.exportState): further steps may be queued while the promise is open. Not while a step
   * is being queued or something is being obeyed. */
  async exportState(): Promise<SteeredState> {
    const reading = this.trainer.exportState()
    this.#exports = Promise.allSettled([this.#exports, reading])
    const { experiment } = this
    const steering = [...this.#done, ...this.#due]
    const done = this.#done.length
    const document = { ...this.#beginning, steering }
    return { trainer: await reading, experiment, document, done }
  }

  /** Resolves when no state is being read back. */
  get exported(): Promise<unknown> {
    return this.#exports
  }

  /** Whether the run is over unless a command prolongs it. Call it after `obey`. */
  get isFinished(): boolean {
    return this.trainer.isFinished
  }

  get isPhaseOver(): boolean {
    return this.trainer.isPhaseOver
  }

  /** Steps queued so far. */
  get step(): number {
    return this.trainer.step
  }

  get phase(): number {
    return this.trainer.phase
  }

  /** Steps of the whole run: those queued so far, and those to come with what the document still
   * does. */
  get totalSteps(): number {
    const { experiment, trainer } = this
    const { step, phase, phase_step } = trainer
    const position = { step, phase, phase_step }
    return plannedTotal({
      experiment,
      steering: this.#due,
      steered: [],
      phase_switches: [],
      ...position,
    })
  }

  /** What became of `rollout.dtype: float16` (Trainer). */
  get rollout_dtype() {
    return this.trainer.rollout_dtype
  }

  /** Prepares the next step; `obey` comes before it. False while its phase waits for a person's
   * verdicts. */
  ready(): Promise<boolean> {
    return this.trainer.ready()
  }

  get isWaiting(): boolean {
    return this.trainer.isWaiting
  }

  /** The phase that has begun and that no step has reported. */
  takePhaseStart() {
    return this.trainer.takePhaseStart()
  }

  /** Of a phase of pairs. */
  get preferences() {
    return this.trainer.preferences
  }

  /** A verdict of a person (Trainer). One that comes while the run moves to other buffers is not
   * taken. */
  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean {
    return !this.#isMoving && this.trainer.decide(id, choice)
  }

  /** Takes the last verdict back, under the same condition. */
  undoVerdict(): boolean {
    return !this.#isMoving && this.trainer.undoVerdict()
  }

  /** The next step of reinforcement brings its token table. */
  traceNext(): void {
    this.#wantsTrace = true
  }

  /** What steps are to show of the inside (Trainer), whatever trainer takes them. Not while a step
   * is being queued. */
  observe(request: ObservationRequest): void {
    this.#observed = request
    this.trainer.observe(request)
  }

  /** The next step that shows it (Trainer). */
  get nextObserved(): number | undefined {
    return this.trainer.nextObserved
  }

  /** The same of the state as it is, between two steps; undefined where nothing is asked for. */
  observeNow(): Promise<Observation | undefined> {
    return this.trainer.observeNow()
  }

  /** Asks for an action before the next step. */
  steer(action: SteeringAction): void {
    this.#asked.push(action)
  }

  /** Does what is due before the next step, in order: first the document's entries, then what was
   * asked for. */
  async obey(): Promise<Steered[]> {
    if (!this.#isStarted) return []
    const { step } = this.trainer
    const steered: Steered[] = []
    for (let due = this.#due[0]; due && due.step <= step; due = this.#due[0]) {
      this.#due.shift()
      steered.push(await this.#do(due))
    }
    const asked = this.#asked.splice(0)
    for (const [i, action] of asked.entries()) {
      // The phase is over already: it has taken all its steps, or the button was pressed twice.
      const isOver = this.trainer.isPhaseOver && !this.isFinished
      if (action.kind === 'next_phase' && (isOver || this.#endedAfter === step)) continue
      // No step would see the value.
      const isLate = this.isFinished && !asked.slice(i).some(mayProlong)
      const entry = { step, ...action }
      const { experiment } = this
      const steering = [...this.#done, ...this.#due]
      if (isLate) steered.push({ entry, experiment, steering, refused: TOO_LATE })
      else steered.push(await this.#do(entry, true))
    }
    return steered
  }

  /** Queues one step; `obey` comes before it. */
  async queue() {
    // By now the trainer is the one that takes the step.
    if (this.#wantsTrace) this.trainer.traceNext()
    this.#wantsTrace = false
    const queued = await this.trainer.queue()
    this.#isStarted = true
    return queued
  }

  /** `mayReplace`: a value that no step has seen need not be kept when another one takes its
   * place, and neither of them when that is the value of the step before. */
  async #do(entry: SteeringEntry, mayReplace = false): Promise<Steered> {
    const { experiment } = this
    const refused = await this.#try(entry)
    if (refused === undefined && mayReplace) this.#takeOver(entry)
    if (refused === undefined && !(mayReplace && this.#replace(entry))) {
      this.#before.set(entry, experiment)
      this.#done.push(entry)
    }
    return {
      entry,
      experiment: this.experiment,
      steering: [...this.#done, ...this.#due],
      ...(refused !== undefined && { refused }),
    }
  }

  /** A field that a person sets keeps its value: what the document would still set it to is left
   * out. Behind a change of the list of phases another field may have its path. */
  #takeOver(entry: SteeringEntry): void {
    if (entry.kind !== 'set') return
    const moves = this.#due.findIndex(({ kind }) => kind !== 'set')
    const same = moves < 0 ? this.#due : this.#due.slice(0, moves)
    const kept = same.filter((due) => due.kind !== 'set' || due.path !== entry.path)
    this.#due = [...kept, ...this.#due.slice(same.length)]
  }

  /** Keeps an entry in place of one that no step has seen, or neither; other fields may have been
   * set between them. Does nothing, and returns false, where there is none, or where what is left
   * would not lead to the same experiment. */
  #replace(entry: SteeringEntry): boolean {
    const after = this.#done.findLastIndex((done) => !isSetAt(done, entry.step)) + 1
    const index = this.#done.findIndex((done, i) => i >= after && setsTheSame(done, entry))
    const start = index < 0 ? undefined : this.#before.get(this.#done[index])
    if (!start) return false
    const others = this.#done.slice(index + 1)
    for (const kept of [others, [...others, entry]]) {
      const experiments = this.#follow(start, kept)
      const end = experiments?.at(-1)
      if (!experiments || !end || !trainsTheSame(end, this.experiment)) continue
      this.#done = [...this.#done.slice(0, index), ...kept]
      for (const [i, one] of kept.entries()) this.#before.set(one, experiments[i])
      this.experiment = end
      return true
    }
    return false
  }

  /** The experiments that these entries go through now, one more than there are; undefined where
   * one is refused. */
  #follow(start: Experiment, entries: readonly SteeringEntry[]): Experiment[] | undefined {
    const { phase, phase_step } = this.trainer
    const experiments = [start]
    for (const entry of entries) {
      const result = steerExperiment(experiments[experiments.length - 1], entry, phase, phase_step)
      if (!result.ok) return undefined
      experiments.push(result.experiment)
    }
    return experiments
  }

  /** Why it cannot be done; undefined once it is. */
  async #try(entry: SteeringEntry): Promise<string | undefined> {
    if (this.#done.length + this.#due.length >= MAX_STEERING)
      return `a run keeps at most ${MAX_STEERING} changes`
    const { phase, phase_step } = this.trainer
    const result = steerExperiment(this.experiment, entry, phase, phase_step)
    if (!result.ok) return result.message
    const hasKernels = entry.kind === 'kernels'
    if (result.experiment !== this.experiment || hasKernels) {
      const config = steeredConfig(result.experiment, [...this.#done, entry])
      const refusal = this.#engine.refusal(config)
      if (refusal !== undefined) return refusal
      if (hasKernels || !(await this.trainer.adopt(config))) await this.#rebuild(config)
      this.experiment = result.experiment
    }
    if (result.ends) {
      this.trainer.nextPhase(result.ends)
      this.#endedAfter = this.trainer.step
    }
    return undefined
  }

  /** Another trainer with the state of this one, whose memory is freed first. */
  async #rebuild(config: TrainerConfig): Promise<void> {
    this.#isMoving = true
    const state = await this.trainer.exportState()
    await this.#exports
    this.#engine.release()
    this.trainer = await this.#engine.create(config, state)
    this.trainer.importState(state)
    this.trainer.observe(this.#observed)
    this.#isMoving = false
  }
}
