// The policy being trained, on the GPU: weights, optimizer state and the recorded programs that score and update it.

import type { Gpu } from '../kernels/gpu.ts'
import { CONTROL } from '../kernels/optimizer/optimizer.ts'
import type { Program } from '../kernels/program.ts'
import { inverseFrequencies } from '../model/config.ts'
import { chunkSegments, type ParamLayout } from '../model/params.ts'
import { sliceWorkspace } from '../model/workspace.ts'
import { type ActorSize, type ActorTensors, createActorTensors } from './actor_tensors.ts'
import { type RolloutBatch, tokenCount } from './batch.ts'
import type { Actor as ActorConfig, Optim, Phase } from './phase.ts'
import {
  type ApplyLive,
  recordApply,
  recordProbe,
  recordScore,
  recordSft,
  recordUpdate,
  type ScoreLive,
  type UpdateLive,
} from './programs.ts'

/** Most tokens of one forward and backward; larger mini-batches are accumulated. */
const MAX_MICRO_TOKENS = 4096

/** Rows that go through forward and backward at once: the largest divisor of a mini-batch that fits. */
export function microRows(mini_batch_rows: number, width: number): number {
  for (let parts = 1; parts < mini_batch_rows; parts++)
    if (mini_batch_rows % parts === 0 && (mini_batch_rows / parts) * width <= MAX_MICRO_TOKENS)
      return mini_batch_rows / parts
  return 1
}

/** Rows of a phase's batch, of one optimizer step, and of one pass. */
export function phaseRows(
  phase: Phase,
  width: number,
): { batch: number; mini: number; micro: number } {
  if (phase.kind === 'sft') {
    const batch = phase.batch_size
    return { batch, mini: batch, micro: microRows(batch, width) }
  }
  const { train_batch_size, n } = phase.rollout
  const mini = phase.actor.ppo_mini_batch_size * n
  return { batch: train_batch_size * n, mini, micro: microRows(mini, width) }
}

interface LayerPrograms {
  readonly score: Program<ScoreLive>
  readonly update: Program<UpdateLive>
  readonly apply: Program<ApplyLive>
}

/** The actor. Calls encode GPU work in order; nothing is read back here but metrics. */
export class Actor {
  readonly size: ActorSize
  readonly layout: ParamLayout
  readonly tensors: ActorTensors
  #gpu: Gpu
  #layer = new Map<string, LayerPrograms>()
  #sft = new Map<number, Program<'row' | 'inv_token_count'>>()
  #sft_apply: Program<ApplyLive> | undefined
  #begin: Program<never>
  #clear_gradients: Program<never>
  #probe: Program<never>
  #updates = 0

  private constructor(
    gpu: Gpu,
    layout: ParamLayout,
    size: ActorSize,
    tensors: ActorTensors,
    programs: { begin: Program<never>; clear: Program<never>; probe: Program<never> },
  ) {
    this.#gpu = gpu
    this.layout = layout
    this.size = size
    this.tensors = tensors
    this.#begin = programs.begin
    this.#clear_gradients = programs.clear
    this.#probe = programs.probe
  }

  /** Allocates, uploads the weights and records every program that `phases` will need. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    size: ActorSize,
    phases: readonly Phase[],
    weights: Float32Array,
  ): Promise<Actor> {
    const tensors = createActorTensors(gpu, layout, size)
    gpu.write(tensors.model.weights.flat, weights)
    gpu.write(tensors.model.inv_freq, inverseFrequencies(layout.shape))
    gpu.write(tensors.chunk_segment, chunkSegments(layout))
    const actor = new Actor(gpu, layout, size, tensors, {
      begin: await gpu.record('begin_step', [], (r) => r.clear(tensors.sums)),
      clear: await gpu.record('clear_gradients', [], (r) => r.clear(tensors.gradients.flat)),
      probe: await gpu.record('probe', [], (r) => recordProbe(gpu, r, tensors, size)),
    })
    for (const phase of phases) await actor.#prepare(phase)
    return actor
  }

  async #prepare(phase: Phase): Promise<void> {
    const { micro } = phaseRows(phase, this.size.prompt_length + this.size.response_length)
    const gpu = this.#gpu
    const { tensors, layout } = this
    const ws = sliceWorkspace(gpu, tensors.workspace, micro)
    const final = layout.shape.num_hidden_layers
    if (phase.kind === 'sft') {
      if (!this.#sft.has(micro))
        this.#sft.set(
          micro,
          await gpu.record('sft', ['row', 'inv_token_count'], (r) =>
            recordSft(r, tensors, ws, final),
          ),
        )
      this.#sft_apply ??= await this.#recordApply(final)
      return
    }
    const layer = phase.target_layer
    const key = `${layer}/${micro}`
    if (this.#layer.has(key)) return
    this.#layer.set(key, {
      score: await gpu.record('old_log_prob', ['row', 'inv_temperature'], (r) =>
        recordScore(r, tensors, ws, layer),
      ),
      update: await gpu.record(
        'update_actor',
        ['row', 'inv_temperature', 'inv_token_count', 'low', 'high', 'c', 'entropy_coeff'],
        (r) => recordUpdate(r, tensors, ws, layer),
      ),
      apply: await this.#recordApply(layer),
    })
  }

  #recordApply(layer: number): Promise<Program<ApplyLive>> {
    const live = ['lr', 'beta1', 'beta2', 'weight_decay', 'max_norm'] as const
    return this.#gpu.record('adamw', live, (r) => recordApply(r, this.tensors, this.layout, layer))
  }

  #programs(layer: number, micro: number): LayerPrograms {
    const programs = this.#layer.get(`${layer}/${micro}`)
    if (!programs) throw new Error(`actor: layer ${layer} with ${micro} rows was not prepared`)
    return programs
  }

  /** Zeroes the sums of this training step. */
  beginStep(): void {
    this.#updates = 0
    this.#gpu.replay(this.#begin)
  }

  /** Uploads a batch. advantages [B, R]; none for supervised steps. */
  upload(batch: RolloutBatch, advantages?: Float32Array): void {
    const gpu = this.#gpu
    const to = this.tensors.batch
    gpu.write(to.input_ids, batch.input_ids)
    gpu.write(to.attention_mask, batch.attention_mask)
    gpu.write(to.position_ids, batch.position_ids)
    gpu.write(to.response_ids, batch.response_ids)
    gpu.write(to.response_mask, batch.response_mask)
    if (advantages) gpu.write(to.advantages, advantages)
  }

  /** old_log_probs of the uploaded batch under the policy of `layer`: verl's recomputed old policy. */
  computeLogProbs(layer: number, rows: number, micro: number, temperature: number): void {
    const { score } = this.#programs(layer, micro)
    for (let row = 0; row < rows; row += micro)
      this.#gpu.replay(score, { row, inv_temperature: 1 / temperature })
  }

  /** All mini-batches and epochs of one training step; returns the number of optimizer steps. */
  updatePolicy(
    batch: RolloutBatch,
    layer: number,
    rows: { mini: number; micro: number },
    config: ActorConfig,
    temperature: number,
    lr: number,
  ): number {
    const { update, apply } = this.#programs(layer, rows.micro)
    const gpu = this.#gpu
    for (let epoch = 0; epoch < config.ppo_epochs; epoch++)
      for (let first = 0; first < batch.rows; first += rows.mini) {
        const inv_token_count = 1 / tokenCount(batch, first, rows.mini)
        gpu.replay(this.#clear_gradients)
        for (let row = first; row < first + rows.mini; row += rows.micro)
          gpu.replay(update, {
            row,
            inv_temperature: 1 / temperature,
            inv_token_count,
            low: config.clip_ratio_low,
            high: config.clip_ratio_high,
            c: config.clip_ratio_c,
            entropy_coeff: config.entropy_coeff,
          })
        this.#apply(apply, config.optim, config.grad_clip, lr)
      }
    return this.#updates
  }

  /** One supervised optimizer step on the uploaded batch. */
  updateSupervised(
    batch: RolloutBatch,
    micro: number,
    optim: Optim,
    grad_clip: number,
    lr: number,
  ): void {
    const sft = this.#sft.get(micro)
    if (!sft || !this.#sft_apply) throw new Error(`actor: sft with ${micro} rows was not prepared`)
    const inv_token_count = 1 / tokenCount(batch)
    this.#gpu.replay(this.#clear_gradients)
    for (let row = 0; row < batch.rows; row += micro)
      this.#gpu.replay(sft, { row, inv_token_count })
    this.#apply(this.#sft_apply, optim, grad_clip, lr)
  }

  #apply(program: Program<ApplyLive>, optim: Optim, max_norm: number, lr: number): void {
    const { control, history } = this.tensors
    const [beta1, beta2] = optim.betas
    this.#gpu.replay(program, { lr, beta1, beta2, weight_decay: optim.weight_decay, max_norm })
    this.#gpu.copy(control, history, { to_offset: this.#updates * CONTROL.length })
    this.#updates++
  }

  /** Uploads the rows that `probe` looks at: `size.probe_rows` of them. */
  uploadProbe(batch: RolloutBatch): void {
    const gpu = this.#gpu
    const { probe, probe_mask } = this.tensors
    gpu.write(probe.input_ids, batch.input_ids)
    gpu.write(probe.attention_mask, batch.attention_mask)
    gpu.write(probe.position_ids, batch.position_ids)
    gpu.write(probe.response.response_ids, batch.response_ids)
    gpu.write(probe.response.response_mask, batch.response_mask)
    gpu.write(probe_mask, batch.response_mask)
  }

  /** Entropy of every layer's policy on the uploaded probe rows: fills probe_sums. */
  probe(): void {
    this.#gpu.replay(this.#probe)
  }

  /** A new optimizer: moments, step counts and counters start from zero. */
  resetOptimizer(): void {
    const { m, v, corrections, control } = this.tensors
    for (const tensor of [m, v, corrections, control]) this.#gpu.clear(tensor)
  }

  /** The weights in the flat layout of params.ts. */
  async exportWeights(): Promise<Float32Array> {
    const [flat] = await this.#gpu.read(this.tensors.model.weights.flat)
    return flat
  }
}
