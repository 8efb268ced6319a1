// Holds the policy being trained, on the GPU: weights, optimizer state, and the passes that score
// and update it.
import type { WeightSink } from '../../formats/weight_stream.ts'
import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import { gpuSink } from '../../model/params/gpu_sink.ts'
import { copyParams } from '../../model/params/param_copies.ts'
import { uploadFrequencies, uploadModel } from '../../model/transformer/model.ts'
import { uploadRows } from '../../model/transformer/rows.ts'
import type { Optim } from '../config/optim.ts'
import type { ActorPhase, DistillPhase } from '../config/phase.ts'
import { policyPhaseOf } from '../config/preference_policy.ts'
import { type RolloutBatch, tokenCount } from '../experience/batch.ts'
import { type BatchColumns, TrainingBatch } from '../experience/training_batch.ts'
import type { RowOrder } from '../math/shuffle.ts'
import { ActorPrograms, followsPolicy, imitates, type PolicyPhase } from './actor_programs.ts'
import { type ActorSize, type ActorTensors, createActorTensors } from './actor_tensors.ts'
import { type BatchRows, callSeed, phaseRows, shufflesRows } from './base/batch_rows.ts'
import { laidOut, ShuffledBatch } from './base/shuffled_batch.ts'
import { objectiveLive, objectiveOf } from './objective.ts'
import { recordProbe, type ScoreLive } from './programs.ts'
import { Trainable } from './trainable.ts'

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
  #programs: ActorPrograms
  /** Updates keep what they compute per token (step_trace.ts). */
  #isTracing = false
  /** Rows whose old log-probs are those that their first update reads. */
  #laterRows = 0
  /** Whether that first update begins with a pass over the whole batch. */
  #isWholeDue = false
  /** Whether the workspace holds what such a pass left of the first mini-batch. */
  #holdsFirst = false
  #own: { readonly begin: Program<never>; readonly probe: Program<'tokens'> }
  #probeTokens = 0
  /** Whether another model that teaches has its weights. */
  #hasTeacher = false

  private constructor(
    gpu: Gpu,
    size: ActorSize,
    {
      tensors,
      trainable,
      programs,
      shuffled,
    }: {
      readonly tensors: ActorTensors
      readonly trainable: Trainable
      readonly programs: { begin: Program<never>; probe: Program<'tokens'> }
      readonly shuffled: ShuffledBatch | undefined
    },
  ) {
    this.#gpu = gpu
    this.layout = trainable.layout
    this.size = size
    this.tensors = tensors
    this.batch = new TrainingBatch(gpu, tensors.batch, size.use_remove_padding ?? true)
    this.trainable = trainable
    this.shuffled = shuffled
    this.#programs = new ActorPrograms(gpu, tensors)
    this.#own = programs
  }

  /** Allocates, uploads the weights and an adapter's factors, and records every program that
   * `phases` will need. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    size: ActorSize,
    phases: readonly ActorPhase[],
    {
      weights,
      factors,
    }: { readonly weights: Float32Array; readonly factors?: Float32Array | undefined },
  ): Promise<Actor> {
    const tensors = createActorTensors(gpu, layout, size)
    const trainable = await Trainable.load(gpu, layout, tensors, weights, factors)
    const [begin, probe] = await Promise.all([
      gpu.record('begin_step', [], (r) => {
        r.clear(tensors.sums)
        if (tensors.teacher) r.clear(tensors.teacher.sums)
        if (tensors.inner) r.clear(tensors.inner.sums)
        r.clear(tensors.correction_sums)
        r.clear(tensors.nonfinite_token)
      }),
      gpu.record('probe', ['tokens'], (r) => recordProbe(gpu, r, tensors, size)),
    ])
    const { use_remove_padding = true } = size
    const shuffled =
      tensors.shuffled &&
      (await ShuffledBatch.create(gpu, tensors.shuffled, tensors.batch, use_remove_padding))
    const actor = new Actor(gpu, size, { tensors, trainable, programs: { begin, probe }, shuffled })
    actor.resetImportance()
    await actor.prepare(phases)
    return actor
  }

  /** Records the programs of these phases, where that has not been done. They must fit `size`. */
  async prepare(phases: readonly ActorPhase[]): Promise<void> {
    const { layout, size } = this
    const final = layout.shape.num_hidden_layers
    for (const phase of phases) {
      const rows = phaseRows(phase, size.prompt_length + size.response_length, layout.shape)
      const { micro } = rows
      if (phase.kind === 'sft') {
        await this.trainable.prepare(final, phase.optim)
        await this.#programs.prepareSft(micro, final)
      } else if (phase.kind === 'distill') {
        const factors = this.#programs.factors(phase)
        await this.trainable.prepare(phase.target_layer, phase.optim, factors)
        await this.#programs.prepareDistill(phase, micro)
      } else {
        const policy =
          phase.kind === 'preference' ? policyPhaseOf(phase, size.response_length) : phase
        const factors = this.#programs.factors(policy)
        await this.trainable.prepare(phase.target_layer, policy.actor.optim, factors)
        await this.#programs.prepareRl(policy, rows, this.#updated(policy))
      }
    }
  }

  /** Zeroes the sums of this training step. */
  beginStep(): void {
    this.trainable.beginStep()
    this.#gpu.replay(this.#own.begin)
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

  /** old_log_probs of the uploaded batch under the policy of `target_layer`: verl's recomputed old
   * policy. Those of the first `later` rows are kept when the next update passes over them, before
   * it changes a weight: the same bits, one pass less. Where the workspace has room for all rows,
   * that update's first pass goes over all of them: one pass less for each further mini-batch. */
  computeLogProbs(phase: PolicyPhase, rows: BatchRows, later = 0): void {
    this.#isWholeDue = later > 0 && this.#programs.whole(phase, rows) !== undefined
    if (this.#isWholeDue) return
    const pass = this.#programs.pass(phase, rows.micro, 'sampled')
    this.#replayRows(pass, phase, rows, later, this.#programs.old(rows.micro))
    this.#laterRows = later
  }

  /** Log-probs of the uploaded batch under the model that teaches. */
  computeTeacherLogProbs(phase: PolicyPhase, rows: BatchRows): void {
    this.#requireTeacher()
    this.#replayRows(this.#programs.teacher(rows.micro), phase, rows)
  }

  #requireTeacher(): void {
    if (!this.#hasTeacher) throw new Error('actor: expected the weights of the teacher, got none')
  }

  /** The old log-probs of inner policies that learn by the phase's objective. */
  computeInnerLogProbs(phase: PolicyPhase, rows: BatchRows): void {
    this.#replayRows(this.#programs.innerOld(phase, rows.micro), phase, rows)
  }

  /** ref_log_prob of the uploaded batch under the reference, read after as many blocks. */
  computeRefLogProb(phase: PolicyPhase, rows: BatchRows): void {
    this.#replayRows(this.#programs.reference(phase, rows.micro), phase, rows)
  }

  #replayRows(
    program: Program<ScoreLive>,
    phase: PolicyPhase,
    rows: BatchRows,
    first = 0,
    then?: Program<'row'>,
  ): void {
    const inv_temperature = 1 / phase.rollout.temperature
    for (let row = first; row < rows.batch; row += rows.micro) {
      const tokens = this.batch.tokens(row, rows.micro)
      this.#gpu.replay(program, { row, tokens, inv_temperature })
      if (then) this.#gpu.replay(then, { row })
    }
  }

  /** Makes the present weights the reference policy. With an adapter that is its base, whatever the
   * adapter has learned. */
  setReference(): void {
    const { reference, model } = this.tensors
    if (model.adapter) return
    if (!reference) throw new Error('actor: no room was made for a reference policy')
    copyParams(this.#gpu, model.weights.buffers, reference.own)
  }

  /** All mini-batches and epochs of one training step; returns the number of optimizer steps: a
   * mini-batch without a token takes none. `step` varies what an objective leaves to chance;
   * `order`: that of each epoch's rows, where a phase shuffles them; `phase_step` counts the steps
   * of the phase, from 1. */
  updatePolicy(
    batch: RolloutBatch,
    phase: PolicyPhase,
    rows: BatchRows,
    {
      lr,
      step,
      phase_step = 1,
      order,
    }: {
      readonly lr: number
      readonly step: number
      readonly phase_step?: number
      readonly order?: RowOrder | undefined
    },
  ): number {
    const { actor, target_layer } = phase
    const lrFactors = this.#programs.factors(phase)
    // Mini-batches of the phase so far, also those without a token.
    let passes = ((phase_step - 1) * actor.ppo_epochs * rows.batch) / rows.mini
    for (let epoch = 0; epoch < actor.ppo_epochs; epoch++) {
      const passed = laidOut(batch, this.shuffled, order?.(epoch), rows.micro)
      this.#passWhole(phase, rows)
      for (let first = 0; first < rows.batch; first += rows.mini) {
        passes++
        if (tokenCount(passed, first, rows.mini) > 0) {
          this.trainable.clearGradients()
          this.accumulate(passed, phase, rows, { first, step, epoch: order ? epoch : 0 })
          this.trainable.apply(target_layer, actor.optim, actor.grad_clip, lr, lrFactors)
        }
        this.#followPolicy(phase, passes)
      }
      this.#laterRows = 0
    }
    return this.trainable.updates
  }

  /** Reads the old log-probs of all rows where that is due, by the weights that the first
   * mini-batch updates. */
  #passWhole(phase: PolicyPhase, rows: BatchRows): void {
    const whole = this.#isWholeDue ? this.#programs.whole(phase, rows) : undefined
    this.#isWholeDue = false
    this.#holdsFirst = whole !== undefined
    if (!whole) return
    const inv_temperature = 1 / phase.rollout.temperature
    this.#gpu.replay(whole, { row: 0, tokens: this.batch.wholeTokens, inv_temperature })
    this.#gpu.replay(this.#programs.old(rows.batch), { row: 0 })
  }

  /** Mixes the reference with the policy where that is due after so many mini-batches. */
  #followPolicy(phase: PolicyPhase, passes: number): void {
    const { ref_model_mixup_alpha: alpha, ref_model_sync_steps } = phase.actor
    if (this.tensors.reference && followsPolicy(phase) && passes % ref_model_sync_steps === 0)
      this.#gpu.replay(this.#programs.mix(), { alpha })
  }

  /** The batch that the updates of a phase read. */
  #updated({ actor }: PolicyPhase): TrainingBatch {
    return shufflesRows(actor) && this.shuffled ? this.shuffled.batch : this.batch
  }

  /** Adds the gradients of the mini-batch that starts at row `first`, one micro-batch after the
   * other. `epoch`: whose slot of nonfinite_token is written. */
  accumulate(
    batch: RolloutBatch,
    phase: PolicyPhase,
    { mini, micro }: BatchRows,
    {
      first,
      step,
      epoch = 0,
    }: { readonly first: number; readonly step: number; readonly epoch?: number },
  ): void {
    const pass = this.#programs.pass(phase, micro, 'updated')
    const update = this.#programs.update(phase, micro)
    const entropyProgram = this.#programs.finalEntropy(phase, micro)
    const objective = objectiveOf(phase)
    const miniTokens = tokenCount(batch, first, mini)
    for (let row = first; row < first + mini; row += micro) {
      const microTokens = tokenCount(batch, row, micro)
      const { max_response_length } = phase.rollout
      const microCounts = { microRows: micro, microTokens, max_response_length }
      const counts = { miniRows: mini, miniTokens, ...microCounts }
      const seed = callSeed(step, this.trainable.updates, row)
      const live = { row, ...objectiveLive(phase.actor, objective.loss_mode, counts, seed) }
      const tokens = this.#updated(phase).tokens(row, micro)
      const passed = { tokens, inv_temperature: 1 / phase.rollout.temperature }
      const isHeld = this.#holdsFirst && row === 0
      this.#holdsFirst = false
      if (!isHeld) this.#gpu.replay(pass, { row, ...passed })
      if (row < this.#laterRows) this.#gpu.replay(this.#programs.old(micro), { row })
      this.#gpu.replay(update, { ...live, ...passed, epoch })
      if (this.#isTracing) this.#gpu.replay(this.#programs.trace(objective, micro), live)
      if (entropyProgram) this.#gpu.replay(entropyProgram, { ...live, ...passed, epoch })
    }
  }

  /** From here to `endTrace` updates keep what they compute per token. */
  beginTrace(): void {
    this.#isTracing = true
  }

  /** Puts old_log_probs aside and scores the uploaded batch once more, with the weights as they are
   * now: afterwards tensors.trace is full, and batch.old_log_probs holds the log-probs after the
   * update. */
  endTrace(phase: PolicyPhase, rows: BatchRows): void {
    this.#isTracing = false
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

  /** Adds the gradients of `weight` times the mean cross-entropy of the uploaded batch. */
  accumulateSupervised(batch: RolloutBatch, micro: number, weight = 1): void {
    const sft = this.#programs.sft(micro)
    const inv_token_count = weight / tokenCount(batch)
    for (let row = 0; row < batch.rows; row += micro)
      this.#gpu.replay(sft, { row, tokens: this.batch.tokens(row, micro), inv_token_count })
  }

  /** Uploads the weights of the model that teaches, in its own layout. Throws RangeError for
   * another size. */
  importTeacher(flat: Float32Array): void {
    const other = this.tensors.teacher?.other
    const size = this.size.teacher?.size ?? 0
    if (!other || flat.length !== size)
      throw new RangeError(`teacher: expected ${size} weights, got ${flat.length}`)
    uploadModel(this.#gpu, other.model, flat)
    this.#hasTeacher = true
  }

  /** Takes those weights piece by piece. */
  teacherSink(): WeightSink {
    const other = this.tensors.teacher?.other
    const { teacher: layout } = this.size
    if (!other || !layout) throw new Error('actor: no room was made for a teacher')
    uploadFrequencies(this.#gpu, other.model)
    this.#hasTeacher = true
    return gpuSink(this.#gpu, layout, other.model.weights.buffers)
  }

  /** One optimizer step on the uploaded batch, by what the teacher says of its tokens and, where
   * the phase imitates `others`' answers, by their cross-entropy; an averaged teacher then follows
   * the policy. */
  updateDistilled(
    batch: RolloutBatch,
    phase: DistillPhase,
    {
      micro,
      lr,
      others,
    }: { readonly micro: number; readonly lr: number; readonly others: boolean },
  ): void {
    const { target_layer, distillation, optim, grad_clip } = phase
    this.trainable.clearGradients()
    this.accumulateDistilled(batch, phase, micro)
    if (others && imitates(phase))
      this.accumulateSupervised(batch, micro, distillation.crossentropy_weight)
    this.trainable.apply(target_layer, optim, grad_clip, lr, this.#programs.factors(phase))
    if (distillation.teacher === 'ema')
      this.#gpu.replay(this.#programs.mix(), { alpha: 1 - distillation.ema_decay })
  }

  /** Adds the gradients of the mean divergence of the uploaded batch. `items`: the tokens that it
   * is a mean over. */
  accumulateDistilled(
    batch: RolloutBatch,
    phase: DistillPhase,
    micro: number,
    items = tokenCount(batch),
  ): void {
    if (phase.distillation.teacher === 'model') this.#requireTeacher()
    const program = this.#programs.distill(phase, micro)
    const { beta, temperature } = phase.distillation
    const live = { beta, inv_temperature: 1 / temperature, inv_token_count: 1 / items }
    for (let row = 0; row < batch.rows; row += micro)
      this.#gpu.replay(program, { row, tokens: this.batch.tokens(row, micro), ...live })
  }

  /** Uploads the rows that `probe` measures: `size.probeRows` of them. */
  uploadProbe(batch: RolloutBatch): void {
    const { probe, probe_mask } = this.tensors
    const { use_remove_padding = true } = this.size
    this.#probeTokens = uploadRows(this.#gpu, probe, batch, use_remove_padding)
    this.#gpu.write(probe_mask, batch.response_mask)
  }

  /** Entropy of every layer's policy on the uploaded probe rows: fills probe_sums. */
  probe(): void {
    this.#gpu.replay(this.#own.probe, { tokens: this.#probeTokens })
  }

  /** A new optimizer: moments, step counts and counters start from zero. */
  resetOptimizer(): void {
    this.trainable.resetOptimizer()
  }

  /** The weights in the flat layout of model/layout/params.ts. */
  exportWeights(): Promise<Float32Array> {
    return this.trainable.exportWeights()
  }
}
