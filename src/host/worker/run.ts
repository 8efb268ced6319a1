// Takes one run from preparation to end. A lost device is opened again, and the run continues from
// its last state.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Checkpoint, CheckpointFiles } from '../checkpoints/file/checkpoint.ts'
import { CheckpointKeeper, DEFAULT_CHECKPOINTS } from '../checkpoints/keeper.ts'
import { type Opened, openSource, withLaterSteering } from '../checkpoints/origin.ts'
import type { CheckpointSource } from '../protocol/checkpoint_facts.ts'
import { BrokenNumbers } from '../protocol/guard.ts'
import { NO_OBSERVATION } from '../protocol/observation.ts'
import type { LabCommand, LabEvent, RunStatus } from '../protocol/protocol.ts'
import { Orders } from './base/run_orders.ts'
import {
  type CheckpointHost,
  ExperimentError,
  labError,
  type RunDevice,
  type RunHost,
  type RunTrainer,
} from './base/session_host.ts'
import { RunKernels } from './kernels/run_kernels.ts'
import { Losses, lossBehind } from './losses.ts'
import { RunLoop } from './run_loop.ts'
import { RunRecord } from './run_record.ts'
import { readDocument, restoredFrom, restoredState, takeContents } from './start/run_start.ts'
import { tellTrial } from './start/tried_reward.ts'

type Start = Extract<LabCommand, { type: 'start' }>
/** The page draws samples no more often than this; a folder gets those of every step. */
const SAMPLES_MS = 500

export class Run {
  readonly orders: Orders
  readonly told: RunRecord
  readonly #id: number
  readonly #host: RunHost
  readonly #start: Start
  readonly #keeper: CheckpointKeeper
  #status: RunStatus = 'preparing'
  #loop: RunLoop | undefined
  /** The checkpoint that the run began with. */
  #opened: Opened | undefined
  readonly #kernels: RunKernels
  /** AdapterFacts.description of the device. */
  #adapter = ''
  /** The loop has stepped on some device. */
  #hasBegun = false
  #isToldOfMemory = false
  readonly #losses = new Losses()
  /** The run goes back because its numbers were broken. */
  #isGuarded = false

  /** `opened`: a checkpoint to begin with that was read already, in place of one that `start`
   * names. */
  constructor(host: RunHost, start: Start, opened?: Opened) {
    this.#id = start.run
    this.#host = host
    this.#start = start
    this.#opened = opened
    this.told = new RunRecord(opened)
    this.orders = new Orders(start.paused, start.observe ?? NO_OBSERVATION)
    const { run, kernel_cache } = start
    const post = (event: LabEvent) => this.#post(event)
    this.#kernels = new RunKernels({ run, kernel_cache, version: host.version, post })
    const { checkpoints } = host
    this.#keeper = new CheckpointKeeper({
      run: start.run,
      record: start.record,
      // Nobody draws what happens here: the loop waits for a file rather than leave one out that
      // was asked for.
      isPatient: host.isUnattended === true && start.checkpoints?.every_ms === 0,
      // Where nobody goes back to a state and no file is written, none but the last is looked at.
      settings:
        host.isUnattended && !checkpoints ? undefined : (start.checkpoints ?? DEFAULT_CHECKPOINTS),
      storage: checkpoints && { ...checkpoints, files: () => this.#files(checkpoints) },
      history: () => this.told.history,
      facts: () => this.#facts(),
      post: (event) => this.#post(event),
      now: host.now,
    })
  }

  get record(): string {
    return this.#start.record
  }

  /** The newest state as a file, and its step; undefined before there is one. */
  newestCheckpoint() {
    return this.#keeper.encodeNewest()
  }

  decide(id: number, choice: 'a' | 'b' | 'skip'): void {
    this.#loop?.decide(id, choice)
  }

  undoVerdict(): void {
    this.#loop?.undoVerdict()
  }

  /** From preparation to the end. Throws what ends the run before that. */
  async drive(): Promise<void> {
    if (this.#isOver) return
    this.#setStatus('preparing', true)
    await this.#begin()
    await takeContents(this.told.document, this.#start.contents)
    if (!this.#host.isUnattended)
      await tellTrial(this.told.document, this.#id, (event) => this.#post(event))
    while (!this.#isOver && !(await this.#attempt()));
  }

  get #isOver(): boolean {
    return this.orders.isStopped
  }

  #post(event: LabEvent, trainer?: RunTrainer): void {
    if (this.#isOver) return
    this.told.add(event, trainer)
    this.#host.post(event)
  }

  #setStatus(status: RunStatus, isFirst = false): void {
    if (this.#isOver || (status === this.#status && !isFirst)) return
    this.#status = status
    this.#post({ type: 'status', run: this.#id, status })
  }

  #say(message: string): void {
    this.#post({ type: 'progress', run: this.#id, message })
  }

  async #files(checkpoints: CheckpointHost): Promise<CheckpointFiles> {
    const { files, whyMemory } = await checkpoints.open()
    if (whyMemory !== '' && !this.#isToldOfMemory)
      this.#post({
        type: 'checkpoint_problem',
        run: this.#id,
        code: 'unavailable',
        message: whyMemory,
      })
    this.#isToldOfMemory = true
    return files
  }

  #facts(): Omit<Checkpoint, 'run' | 'history'> {
    const parent = this.#opened?.parent
    return {
      record: this.#start.record,
      ...(parent && { parent }),
      made_on: {
        understory: this.#host.checkpoints?.understory ?? '',
        adapter: this.#adapter,
        kernels: this.#kernels.text,
      },
    }
  }

  /** Checks what the run is to begin with: a document, or a checkpoint. */
  async #begin(): Promise<void> {
    const { from, experiment } = this.#start
    if (from) this.#opened = await this.#read(from)
    if (!this.#opened) {
      this.told.document = this.told.beginning = readDocument(experiment)
      return
    }
    const { run: state, history } = this.#opened.checkpoint
    // What was done by hand after the checkpoint is in the record.
    const known = from?.kind === 'resume' ? parseExperiment(experiment) : undefined
    this.told.document = known?.ok
      ? withLaterSteering(state, known.experiment.steering)
      : state.document
    this.#keeper.adopt({ state, history })
  }

  async #read(from: CheckpointSource): Promise<Opened> {
    const { checkpoints } = this.#host
    if (!checkpoints)
      throw new ExperimentError('No checkpoint is kept here to continue a run from.')
    this.#say('Reading the checkpoint')
    const files = await this.#files(checkpoints)
    return openSource(from, files, checkpoints.decode, (message) =>
      this.#post({ type: 'checkpoint_problem', run: this.#id, code: 'corrupt', message }),
    )
  }

  /** The run on one device. False when it is to be tried on another one. */
  async #attempt(): Promise<boolean> {
    const { document } = this.told
    if (!document) return true
    let device: RunDevice | undefined
    let failure: unknown
    try {
      this.#say(this.#losses.isRecovering ? 'Opening the GPU again' : 'Opening the GPU')
      const { allow_bytes } = this.#start
      device = await this.#host.prepare(document, this.#losses.isCareful, allow_bytes)
      const lost = device.lost.then((error) => Promise.reject(error))
      await Promise.race([this.#train(device), lost])
      return true
    } catch (error) {
      failure = (await lossBehind(error, this.#isOver ? undefined : device, this.#host)) ?? error
    } finally {
      this.#loop?.end()
      this.#loop = undefined
      this.#keeper.drop()
      this.#kernels.end()
      await device?.free(failure === undefined, failure instanceof BrokenNumbers)
    }
    if (this.#isOver) return true
    if (this.#host.isUnattended) {
      await this.#keeper.idle
      throw failure
    }
    if (failure instanceof BrokenNumbers) {
      this.#guarded(failure)
      return false
    }
    const { code, message } = labError(failure)
    const isLost = code === 'lost'
    if (!isLost && (device || !this.#losses.isRecovering)) throw failure
    await this.#recover(message, isLost)
    return false
  }

  /** Pauses at the last sound state, with what was found. */
  #guarded({ broken }: BrokenNumbers): void {
    this.orders.rest()
    this.#isGuarded = true
    const { snapshot } = this.#keeper
    const step = snapshot?.state.trainer.step ?? 0
    // What was done by hand since then may be what broke it: a person decides again.
    this.told.document = snapshot?.state.document ?? this.told.beginning
    this.#post({ type: 'guarded', run: this.#id, step, broken })
    this.#setStatus('preparing')
  }

  /** Waits a little, or for a person, until the GPU is to be opened again. */
  async #recover(message: string, isLost: boolean): Promise<void> {
    const { is_waiting, is_blocked } = this.#losses.see(isLost, this.#host.now())
    const step = this.#keeper.snapshot?.state.trainer.step ?? 0
    if (isLost || is_blocked)
      this.#post({ type: 'lost', run: this.#id, step, message, is_waiting, is_blocked })
    if (is_waiting) {
      this.orders.rest()
      this.#setStatus('paused')
      await this.orders.going()
      this.#setStatus('preparing')
      return
    }
    this.#setStatus('preparing')
    await this.#host.sleep(this.#losses.pauseMs)
  }

  async #train(device: RunDevice): Promise<void> {
    if (this.#isOver) return
    this.#adapter = device.adapter.description
    const isFirst = !this.#kernels.is_chosen
    const made_with = this.#opened?.checkpoint.made_on.kernels
    const { document } = this.told
    const matmul = this.#kernels.choose(device, { made_with, document })
    const { snapshot } = this.#keeper
    if (snapshot || this.#hasBegun) this.#tellRestored()
    if (isFirst && this.#opened && this.#opened.why !== 'resume') this.#keeper.write()
    this.#hasBegun = true
    const state = snapshot && document && { ...snapshot.state, document }
    const open = await device.start(matmul, (message) => this.#say(message), state)
    if (this.#isOver) return
    this.#losses.end(this.#host.now())
    const host = this.#host
    const { orders } = this
    this.#kernels.begin({ orders, open, now: host.now })
    this.#loop = new RunLoop(
      {
        id: this.#id,
        host,
        orders,
        keeper: this.#keeper,
        samplesMs: host.isUnattended ? 0 : SAMPLES_MS,
        between: async () => {
          await host.between?.()
          await this.#kernels.between()
        },
        post: (event) => this.#post(event, open.trainer),
        setStatus: (status) => this.#setStatus(status),
      },
      open,
    )
    await this.#loop.drive()
  }

  /** The page goes back to the state that the run continues from, or to the beginning. */
  #tellRestored(): void {
    const { snapshot } = this.#keeper
    const { document } = this.told
    if (!document) return
    const opened = this.#hasBegun ? undefined : this.#opened
    this.#post({
      type: 'restored',
      run: this.#id,
      why: opened?.why ?? (this.#isGuarded ? 'guard' : 'lost'),
      ...restoredState(snapshot?.state, document),
      history: this.told.restore(snapshot),
      kernels: this.#kernels.text,
      ...restoredFrom(this.#opened, opened && this.#facts().made_on),
    })
    this.#isGuarded = false
  }
}
