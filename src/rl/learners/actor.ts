// The policy being trained, on the GPU: weights, optimizer state and the recorded programs that score and update it.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Program, Recorder } from '../../kernels/device/program.ts'
import type { ModelConfig } from '../../model/params/config.ts'
import type { ParamLayout } from '../../model/params/params.ts'
import { uploadRows } from '../../model/transformer/rows.ts'
import { sliceWorkspace } from '../../model/transformer/workspace.ts'
import type { Optim } from '../config/optim.ts'
import type { ActorPhase, RlPhase } from '../config/phase.ts'
import { segmentFactors, type TrainedPart } from '../config/trained_segments.ts'
import { type RolloutBatch, tokenCount } from '../experience/batch.ts'
import { needsCritic, needsReference } from '../experience/experience.ts'
import { TrainingBatch } from '../experience/training_batch.ts'
import type { RowOrder } from '../math/shuffle.ts'
import { type ActorSize, type ActorTensors, createActorTensors } from './actor_tensors.ts'
import {
  choosesTokens,
  OBJECTIVE_LIVE,
  type Objective,
  objectiveLive,
  objectiveOf,
} from './objective.ts'
import {
  type RowsLive,
  recordProbe,
  recordReference,
  recordScore,
  recordSft,
  recordTrace,
  recordUpdate,
  type ScoreLive,
  type TraceLive,
  type UpdateLive,
} from './programs.ts'
import { ShuffledBatch } from './shuffled_batch.ts'
import { Trainable } from './trainable.ts'

/** Most tokens of one forward and backward; larger mini-batches are accumulated. */
const MAX_MICRO_TOKENS = 4096
/** Most arithmetic of one dispatch: 50 ms at 0.4 TFLOP/s, so that no watchdog of a laptop's GPU fires. */
const MAX_DISPATCH_FLOP = 2e10

/** Widths that decide how long the largest product of a model takes per token. */
export type ModelWidths = Pick<ModelConfig, 'hidden_size' | 'intermediate_size' | 'vocab_size'>

/** Tokens that go through forward and backward at once. */
export function microTokens({ hidden_size, intermediate_size, vocab_size }: ModelWidths): number {
  const flop_per_token = 2 * hidden_size * Math.max(vocab_size, 2 * intermediate_size)
  return Math.min(MAX_MICRO_TOKENS, Math.floor(MAX_DISPATCH_FLOP / flop_per_token))
}

/** Rows that go through forward and backward at once: the largest divisor of a mini-batch that fits `max_tokens`. */
export function microRows(mini_batch_rows: number, width: number, max_tokens: number): number {
  for (let parts = 1; parts < mini_batch_rows; parts++)
    if (mini_batch_rows % parts === 0 && (mini_batch_rows / parts) * width <= max_tokens)
      return mini_batch_rows / parts
  return 1
}

/** Rows of a batch, of one optimizer step, and of one pass. */
export interface BatchRows {
  readonly batch: number
  readonly mini: number
  readonly micro: number
}

/** Greatest common divisor. */
export const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

/** Prompts of the critic's mini-batch, where a phase has a critic; else the actor's. */
const criticMini = (phase: RlPhase): number =>
  (needsCritic(phase) ? phase.critic.ppo_mini_batch_size : null) ?? phase.actor.ppo_mini_batch_size

/**
 * How a phase cuts its batch; the critic's mini-batches are cut into the same micro-batches. Throws RangeError for a
 * micro-batch that does not divide the mini-batch of either.
 */
export function phaseRows(phase: ActorPhase, width: number, model: ModelWidths): BatchRows {
  const max_tokens = microTokens(model)
  if (phase.kind === 'sft') {
    const batch = phase.batch_size
    return { batch, mini: batch, micro: microRows(batch, width, max_tokens) }
  }
  const { train_batch_size, n } = phase.rollout
  const mini = phase.actor.ppo_mini_batch_size * n
  const both = gcd(mini, criticMini(phase) * n)
  const micro = phase.actor.ppo_micro_batch_size_per_gpu ?? microRows(both, width, max_tokens)
  if (both % micro !== 0)
    throw new RangeError(
      `actor.ppo_micro_batch_size_per_gpu: expected a divisor of the mini-batch's ${both} rows, got ${micro}`,
    )
  return { batch: train_batch_size * n, mini, micro }
}

/** How the critic of a phase goes through a batch that was cut into `rows`: verl's critic.ppo_mini_batch_size and ppo_epochs. */
export function criticPasses(
  phase: RlPhase,
  rows: BatchRows,
): { readonly rows: BatchRows; readonly epochs: number } {
  return {
    rows: { ...rows, mini: criticMini(phase) * phase.rollout.n },
    epochs: phase.critic.ppo_epochs ?? phase.actor.ppo_epochs,
  }
}

/** Whether the epochs of a phase have orders of their own. verl's legacy worker cuts every batch as it comes. */
export const shufflesRows = ({
  shuffle,
  use_legacy_worker_impl,
}: Pick<RlPhase['actor'], 'shuffle' | 'use_legacy_worker_impl'>): boolean =>
  shuffle && use_legacy_worker_impl === 'disable'

/** The batch as an epoch goes through it: as it is, or laid out in this order. */
export const laidOut = (
  batch: RolloutBatch,
  shuffled: ShuffledBatch | undefined,
  order: readonly number[] | undefined,
  micro: number,
): RolloutBatch => (shuffled && order ? shuffled.lay(batch, order, micro) : batch)

/** What an update needs to know of its phase. */
export type PolicyPhase = TrainedPart &
  Pick<RlPhase, 'actor' | 'algorithm'> & {
    readonly rollout: Pick<RlPhase['rollout'], 'temperature' | 'max_response_length'>
  }

/** Per-token arrays of a batch that are computed after it was uploaded, [B, R] each. */
export interface BatchColumns {
  readonly advantages?: Float32Array
  readonly old_log_probs?: Float32Array
  readonly ref_log_prob?: Float32Array
  readonly rollout_is_weights?: Float32Array
  readonly response_mask?: Float32Array
}

/** The actor. Calls encode GPU work in order; nothing is read back here. */
export class Actor {
  /** What shuffled phases update on; actor and critic share it. */
  readonly shuffled: ShuffledBatch | undefined
  readonly size: ActorSize
  readonly layout: ParamLayout
  readonly tensors: ActorTensors
  readonly trainable: Trainable
  readonly batch: TrainingBatch
  #gpu: Gpu
  #score = new Map<string, Program<ScoreLive>>()
  #reference = new Map<string, Program<ScoreLive>>()
  #update = new Map<string, Program<UpdateLive>>()
  #sft = new Map<number, Program<RowsLive | 'inv_token_count'>>()
  #trace = new Map<string, Program<TraceLive>>()
  /** Updates keep what they compute per token (step_trace.ts). */
  #is_tracing = false
  #begin: Program<never>
  #probe: Program<'tokens'>
  #probe_tokens = 0

  private constructor(
    gpu: Gpu,
    size: ActorSize,
    tensors: ActorTensors,
    trainable: Trainable,
    programs: { begin: Program<never>; probe: Program<'tokens'> },
    shuffled: ShuffledBatch | undefined,
  ) {
    this.#gpu = gpu
    this.layout = trainable.layout
    this.size = size
    this.tensors = tensors
    this.batch = new TrainingBatch(gpu, tensors.batch, size.use_remove_padding ?? true)
    this.trainable = trainable
    this.shuffled = shuffled
    this.#begin = programs.begin
    this.#probe = programs.probe
  }

  /** Allocates, uploads the weights and records every program that `phases` will need. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    size: ActorSize,
    phases: readonly ActorPhase[],
    weights: Float32Array,
  ): Promise<Actor> {
    const tensors = createActorTensors(gpu, layout, size)
    const trainable = await Trainable.create(gpu, layout, tensors, weights)
    const programs = {
      begin: await gpu.record('begin_step', [], (r) => {
        r.clear(tensors.sums)
        r.clear(tensors.correction_sums)
        r.clear(tensors.nonfinite_token)
      }),
      probe: await gpu.record('probe', ['tokens'], (r) => recordProbe(gpu, r, tensors, size)),
    }
    const { use_remove_padding = true } = size
    const shuffled =
      tensors.shuffled &&
      (await ShuffledBatch.create(gpu, tensors.shuffled, tensors.batch, use_remove_padding))
    const actor = new Actor(gpu, size, tensors, trainable, programs, shuffled)
    actor.resetImportance()
    await actor.prepare(phases)
    return actor
  }

  /** Records the programs of these phases, where that has not been done. They must fit `size`. */
  async prepare(phases: readonly ActorPhase[]): Promise<void> {
    for (const phase of phases) await this.#prepare(phase)
  }

  async #prepare(phase: ActorPhase): Promise<void> {
    const { micro } = phaseRows(
      phase,
      this.size.prompt_length + this.size.response_length,
      this.layout.shape,
    )
    const { tensors, layout } = this
    const ws = sliceWorkspace(this.#gpu, tensors.workspace, micro)
    if (phase.kind === 'sft') {
      const final = layout.shape.num_hidden_layers
      await this.trainable.prepare(final)
      await this.#record(this.#sft, micro, 'sft', ['row', 'tokens', 'inv_token_count'], (r) =>
        recordSft(r, tensors, ws, final),
      )
      return
    }
    const { target_layer: layer, target_readout: readout } = phase
    const batch = this.#updated(phase).tensors
    await this.trainable.prepare(layer, segmentFactors(layout, phase))
    const live = ['row', 'tokens', 'inv_temperature'] as const
    await this.#record(this.#score, scoreKey(phase, micro), 'old_log_prob', live, (r) =>
      recordScore(r, tensors, ws, layer, readout),
    )
    const { reference } = tensors
    if (needsReference(phase) && reference)
      await this.#record(this.#reference, scoreKey(phase, micro), 'ref', live, (r) =>
        recordReference(r, tensors, { ...tensors.model, weights: reference }, ws, layer, readout),
      )
    await this.#record(
      this.#update,
      updateKey(phase, micro),
      'update_actor',
      [...live, ...OBJECTIVE_LIVE, 'epoch'],
      (r) => recordUpdate(r, { ...tensors, batch }, ws, layer, objectiveOf(phase), readout),
    )
    const objective = objectiveOf(phase)
    const trace_live = ['row', ...OBJECTIVE_LIVE] as const
    await this.#record(this.#trace, traceKey(objective, micro), 'trace', trace_live, (r) =>
      recordTrace(r, tensors, ws, objective),
    )
  }

  async #record<K, L extends string>(
    programs: Map<K, Program<L>>,
    key: K,
    label: string,
    live: readonly L[],
    build: (recorder: Recorder<L>) => void,
  ): Promise<void> {
    if (!programs.has(key)) programs.set(key, await this.#gpu.record(label, live, build))
  }

  /** Zeroes the sums of this training step. */
  beginStep(): void {
    this.trainable.beginStep()
    this.#gpu.replay(this.#begin)
  }

  /** Uploads a batch for passes of `micro` rows, and what else of it is known. */
  upload(
    batch: RolloutBatch,
    { micro }: Pick<BatchRows, 'micro'>,
    columns: BatchColumns = {},
  ): void {
    this.batch.upload(batch, micro)
    this.uploadColumns(columns)
  }

  /** Uploads per-token arrays of the current batch, [B, R]. */
  uploadColumns(columns: BatchColumns): void {
    for (const [name, values] of Object.entries(columns))
      if (values) this.#gpu.write(this.tensors.batch[name as keyof BatchColumns], values)
  }

  /** Importance weights of 1 for all batches, until one brings its own. */
  resetImportance(): void {
    const { rollout_is_weights } = this.tensors.batch
    const [rows, R] = rollout_is_weights.shape
    this.#gpu.write(rollout_is_weights, new Float32Array(rows * R).fill(1))
  }

  /** old_log_probs of the uploaded batch under the policy of `target_layer`: verl's recomputed old policy. */
  computeLogProbs(phase: PolicyPhase, rows: BatchRows): void {
    this.#replayRows(this.#score, phase, rows)
  }

  /** ref_log_prob of the uploaded batch under the reference, read after as many blocks. */
  computeRefLogProb(phase: PolicyPhase, rows: BatchRows): void {
    this.#replayRows(this.#reference, phase, rows)
  }

  #replayRows(
    programs: ReadonlyMap<string, Program<ScoreLive>>,
    phase: PolicyPhase,
    rows: BatchRows,
  ): void {
    const program = prepared(programs.get(scoreKey(phase, rows.micro)))
    const inv_temperature = 1 / phase.rollout.temperature
    for (let row = 0; row < rows.batch; row += rows.micro)
      this.#gpu.replay(program, {
        row,
        tokens: this.batch.tokens(row, rows.micro),
        inv_temperature,
      })
  }

  /** Makes the present weights the reference policy. */
  setReference(): void {
    const { reference, model } = this.tensors
    if (!reference) throw new Error('actor: no room was made for a reference policy')
    this.#gpu.copy(model.weights.flat, reference.flat)
  }

  /**
   * All mini-batches and epochs of one training step; returns the number of optimizer steps. A mini-batch without a token
   * (all were rejected) takes none. `step` varies what an objective leaves to chance; `order` is that of each epoch's rows,
   * where a phase shuffles them.
   */
  updatePolicy(
    batch: RolloutBatch,
    phase: PolicyPhase,
    rows: BatchRows,
    lr: number,
    step: number,
    order?: RowOrder,
  ): number {
    const { actor, target_layer } = phase
    const lr_factors = segmentFactors(this.layout, phase)
    for (let epoch = 0; epoch < actor.ppo_epochs; epoch++) {
      const passed = laidOut(batch, this.shuffled, order?.(epoch), rows.micro)
      const slot = order ? epoch : 0
      for (let first = 0; first < rows.batch; first += rows.mini) {
        if (tokenCount(passed, first, rows.mini) === 0) continue
        this.trainable.clearGradients()
        this.accumulate(passed, phase, rows, first, step, slot)
        this.trainable.apply(target_layer, actor.optim, actor.grad_clip, lr, lr_factors)
      }
    }
    return this.trainable.updates
  }

  /** The batch that the updates of a phase read. */
  #updated({ actor }: PolicyPhase): TrainingBatch {
    return shufflesRows(actor) && this.shuffled ? this.shuffled.batch : this.batch
  }

  /**
   * Adds the gradients of the mini-batch that starts at row `first`, one micro-batch after the other. `epoch`: whose slot of
   * nonfinite_token is written.
   */
  accumulate(
    batch: RolloutBatch,
    phase: PolicyPhase,
    { mini, micro }: BatchRows,
    first: number,
    step: number,
    epoch = 0,
  ): void {
    const update = prepared(this.#update.get(updateKey(phase, micro)))
    const objective = objectiveOf(phase)
    const mini_tokens = tokenCount(batch, first, mini)
    for (let row = first; row < first + mini; row += micro) {
      const micro_tokens = tokenCount(batch, row, micro)
      const { max_response_length } = phase.rollout
      const micro_counts = { micro_rows: micro, micro_tokens, max_response_length }
      const counts = { mini_rows: mini, mini_tokens, ...micro_counts }
      const seed = callSeed(step, this.trainable.updates, row)
      const live = { row, ...objectiveLive(phase.actor, objective.loss_mode, counts, seed) }
      this.#gpu.replay(update, {
        ...live,
        tokens: this.#updated(phase).tokens(row, micro),
        inv_temperature: 1 / phase.rollout.temperature,
        epoch,
      })
      if (this.#is_tracing)
        this.#gpu.replay(prepared(this.#trace.get(traceKey(objective, micro))), live)
    }
  }

  /** From here to `endTrace` updates keep what they compute per token. */
  beginTrace(): void {
    this.#is_tracing = true
  }

  /**
   * Puts old_log_probs aside and scores the uploaded batch once more, with the weights as they are now: afterwards
   * tensors.trace is full, and batch.old_log_probs holds the log-probs after the update.
   */
  endTrace(phase: PolicyPhase, rows: BatchRows): void {
    this.#is_tracing = false
    this.#gpu.copy(this.tensors.batch.old_log_probs, this.tensors.trace.old_log_probs)
    this.computeLogProbs(phase, rows)
  }

  /** One supervised optimizer step on the uploaded batch. */
  updateSupervised(
    batch: RolloutBatch,
    micro: number,
    optim: Optim,
    grad_clip: number,
    lr: number,
  ): void {
    this.trainable.clearGradients()
    this.accumulateSupervised(batch, micro)
    this.trainable.apply(this.layout.shape.num_hidden_layers, optim, grad_clip, lr)
  }

  /** Adds the gradients of the mean cross-entropy of the uploaded batch. */
  accumulateSupervised(batch: RolloutBatch, micro: number): void {
    const sft = prepared(this.#sft.get(micro))
    const inv_token_count = 1 / tokenCount(batch)
    for (let row = 0; row < batch.rows; row += micro)
      this.#gpu.replay(sft, { row, tokens: this.batch.tokens(row, micro), inv_token_count })
  }

  /** Uploads the rows that `probe` looks at: `size.probe_rows` of them. */
  uploadProbe(batch: RolloutBatch): void {
    const { probe, probe_mask } = this.tensors
    const { use_remove_padding = true } = this.size
    this.#probe_tokens = uploadRows(this.#gpu, probe, batch, use_remove_padding)
    this.#gpu.write(probe_mask, batch.response_mask)
  }

  /** Entropy of every layer's policy on the uploaded probe rows: fills probe_sums. */
  probe(): void {
    this.#gpu.replay(this.#probe, { tokens: this.#probe_tokens })
  }

  /** A new optimizer: moments, step counts and counters start from zero. */
  resetOptimizer(): void {
    this.trainable.resetOptimizer()
  }

  /** The weights in the flat layout of model/params/params.ts. */
  exportWeights(): Promise<Float32Array> {
    return this.trainable.exportWeights()
  }
}

/** Phases with equal keys read the same policy in passes of the same size. */
const scoreKey = ({ target_layer, target_readout = 'raw' }: PolicyPhase, micro: number): string =>
  `${target_layer}/${target_readout}/${micro}`

/** Phases with equal keys share their recorded update. */
const updateKey = (phase: PolicyPhase, micro: number): string =>
  JSON.stringify([scoreKey(phase, micro), objectiveOf(phase), shufflesRows(phase.actor)])

/** Losses that choose no tokens have the same trace. */
const traceKey = (objective: Objective, micro: number): string =>
  `${choosesTokens(objective) ? objective.loss_mode : ''}/${micro}`

/** Another number for every micro-batch of a run. */
const callSeed = (step: number, update: number, row: number): number =>
  Math.imul(Math.imul(step, 65_537) + update, 8191) + row

function prepared<L extends string>(program: Program<L> | undefined): Program<L> {
  if (!program) throw new Error('actor: this phase was not prepared')
  return program
}
