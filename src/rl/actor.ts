// The policy being trained, on the GPU: weights, optimizer state and the recorded programs that score and update it.
import type { Allocator, Gpu, Program, Recorder, Tensor } from '../kernels/gpu.ts'
import { masked_sum } from '../kernels/metrics/metrics.ts'
import {
  adamw_update,
  CONTROL,
  grad_norm_finish,
  grad_norm_partial,
  OPTIMIZER_BLOCKS,
} from '../kernels/optimizer/optimizer.ts'
import {
  POLICY_LOSS_SUMS,
  policy_loss_vanilla,
  sft_loss,
} from '../kernels/policy_loss/policy_loss.ts'
import { headSplits } from '../kernels/vocab_head/vocab_head.ts'
import { inverseFrequencies } from '../model/config.ts'
import {
  CHUNK,
  chunkSegments,
  type ParamLayout,
  type ParamTensors,
  paramTensors,
  trainedPrefix,
} from '../model/params.ts'
import { backward, forward, type Model, readPolicy } from '../model/transformer.ts'
import { createWorkspace, sliceWorkspace, type Workspace } from '../model/workspace.ts'
import { type RolloutBatch, tokenCount } from './batch.ts'
import type { Actor as ActorConfig, Optim, Phase } from './phase.ts'

/** Most tokens of one forward and backward; larger mini-batches are accumulated. */
const MAX_MICRO_TOKENS = 4096
const ADAM_EPS = 1e-8

/** How large the actor's buffers must be. */
export interface ActorSize {
  readonly prompt_length: number
  /** R: the longest response of any phase. */
  readonly response_length: number
  /** Most rows of a batch in any phase. */
  readonly batch_rows: number
  /** Most rows of a micro-batch in any phase. */
  readonly micro_rows: number
  /** Most optimizer steps in one training step. */
  readonly updates: number
  readonly probe_rows: number
}

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

/** The training batch on the GPU: what RolloutBatch holds, plus what is computed from it. */
interface BatchTensors {
  readonly input_ids: Tensor
  readonly attention_mask: Tensor
  readonly position_ids: Tensor
  readonly response_ids: Tensor
  readonly response_mask: Tensor
  readonly advantages: Tensor
  readonly old_log_probs: Tensor
}

interface ActorTensors {
  readonly model: Model
  readonly gradients: ParamTensors
  readonly m: Tensor
  readonly v: Tensor
  readonly chunk_segment: Tensor
  /** 1 - beta^t of each segment, [segments, 2]. */
  readonly corrections: Tensor
  readonly partials: Tensor
  /** The last optimizer step, [CONTROL.length]. */
  readonly control: Tensor
  /** control after each optimizer step of this training step, [updates, CONTROL.length]. */
  readonly history: Tensor
  /** Sums of the loss kernels over this training step. */
  readonly sums: Tensor
  readonly batch: BatchTensors
  readonly workspace: Workspace
  readonly probe: Workspace
  /** Entropy of each layer's policy on the probe rows, [L+1, stride]. */
  readonly probe_entropy: Tensor
  /** response_mask of the probe rows, zero-padded, [stride]. */
  readonly probe_mask: Tensor
  readonly probe_sums: Tensor
}

/** Allocates everything but the rollouts. */
export function createActorTensors(
  alloc: Allocator,
  layout: ParamLayout,
  size: ActorSize,
): ActorTensors {
  const { shape } = layout
  const { prompt_length, response_length: R, batch_rows: B, micro_rows } = size
  const T = prompt_length + R
  const flat = (label: string, kind: 'weights' | 'gradients' | 'optimizer') =>
    alloc.tensor(label, 'f32', [layout.size], { kind })
  const segments = layout.segment_ends.length
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const ids = (label: string, width: number) =>
    alloc.tensor(`batch.${label}`, 'u32', [B, width], { kind: 'batch' })
  const response = (label: string) =>
    alloc.tensor(`batch.${label}`, 'f32', [B, R], { kind: 'batch' })
  const weights = paramTensors(alloc, layout, flat('weights', 'weights'))
  const inv_freq = alloc.tensor('inv_freq', 'f32', [shape.head_dim / 2], { kind: 'weights' })
  const stride = probeStride(size)
  return {
    model: { shape, weights, inv_freq },
    gradients: paramTensors(alloc, layout, flat('gradients', 'gradients')),
    m: flat('adam_m', 'optimizer'),
    v: flat('adam_v', 'optimizer'),
    chunk_segment: alloc.tensor('chunk_segment', 'u32', [layout.size / CHUNK], {
      kind: 'optimizer',
    }),
    corrections: optimizer('corrections', segments, 2),
    partials: optimizer('norm_partials', OPTIMIZER_BLOCKS),
    control: optimizer('control', CONTROL.length),
    history: optimizer('history', size.updates, CONTROL.length),
    sums: optimizer('loss_sums', POLICY_LOSS_SUMS.length),
    batch: {
      input_ids: ids('input_ids', T),
      attention_mask: ids('attention_mask', T),
      position_ids: ids('position_ids', T),
      response_ids: ids('response_ids', R),
      response_mask: response('response_mask'),
      advantages: response('advantages'),
      old_log_probs: response('old_log_probs'),
    },
    workspace: createWorkspace(alloc, shape, {
      rows: micro_rows,
      width: T,
      response_length: R,
      trains: true,
      head_splits: headSplits(micro_rows * R, shape.hidden_size, shape.vocab_size),
    }),
    probe: createWorkspace(alloc, shape, {
      rows: size.probe_rows,
      width: T,
      response_length: R,
      trains: false,
    }),
    probe_entropy: alloc.tensor('probe_entropy', 'f32', [shape.num_hidden_layers + 1, stride]),
    probe_mask: alloc.tensor('probe_mask', 'f32', [stride]),
    probe_sums: alloc.tensor('probe_sums', 'f32', [shape.num_hidden_layers + 1]),
  }
}

const probeStride = ({ probe_rows, response_length }: ActorSize): number =>
  Math.ceil((probe_rows * response_length) / CHUNK) * CHUNK

type ApplyLive = 'lr' | 'beta1' | 'beta2' | 'weight_decay' | 'max_norm'
type ScoreLive = 'row' | 'inv_temperature'
type UpdateLive = ScoreLive | 'inv_token_count' | 'low' | 'high' | 'c' | 'entropy_coeff'

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
  #probe: Program<'row'>
  #updates = 0

  private constructor(
    gpu: Gpu,
    layout: ParamLayout,
    size: ActorSize,
    tensors: ActorTensors,
    programs: { begin: Program<never>; clear: Program<never>; probe: Program<'row'> },
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
      probe: await gpu.record('probe', ['row'], (r) => recordProbe(gpu, r, tensors, size)),
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

  /** Entropy of every layer's policy on the first rows of the uploaded batch: fills probe_sums. */
  probe(): void {
    this.#gpu.replay(this.#probe, { row: 0 })
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

/** Copies rows [row, row + ws.rows) of the batch into the workspace. */
function loadRows(
  recorder: Pick<Recorder<'row'>, 'copy'>,
  batch: BatchTensors,
  ws: Workspace,
  names: readonly ('old_log_probs' | 'advantages')[] = [],
): void {
  const { width: T, response_length: R } = ws
  const copy = (from: Tensor, to: Tensor, columns: number) =>
    recorder.copy(from, to, { from_offset: ({ row }) => row * columns, count: ws.rows * columns })
  copy(batch.input_ids, ws.input_ids, T)
  copy(batch.attention_mask, ws.attention_mask, T)
  copy(batch.position_ids, ws.position_ids, T)
  copy(batch.response_ids, ws.response.response_ids, R)
  copy(batch.response_mask, ws.response.response_mask, R)
  for (const name of names) copy(batch[name], ws.response[name], R)
}

function recordScore(r: Recorder<ScoreLive>, t: ActorTensors, ws: Workspace, layer: number): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws, layer)
  readPolicy(r, t.model, ws, layer, (live) => live.inv_temperature)
  const R = ws.response_length
  const count = ws.rows * R
  r.copy(ws.response.log_probs, t.batch.old_log_probs, { to_offset: ({ row }) => row * R, count })
}

function recordUpdate(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws, ['old_log_probs', 'advantages'])
  forward(r, t.model, ws, layer)
  readPolicy(r, t.model, ws, layer, (live) => live.inv_temperature)
  const { log_probs, old_log_probs, advantages, response_mask, entropy } = ws.response
  const { d_log_probs, d_entropy } = ws.response
  r.run(
    policy_loss_vanilla,
    {
      tokens: ws.rows * ws.response_length,
      clip_ratio_low: (live) => live.low,
      clip_ratio_high: (live) => live.high,
      clip_ratio_c: (live) => live.c,
      inv_token_count: (live) => live.inv_token_count,
      entropy_coeff: (live) => live.entropy_coeff,
    },
    {
      log_probs,
      old_log_probs,
      advantages,
      response_mask,
      entropy,
      d_log_probs,
      d_entropy,
      sums: t.sums,
    },
  )
  backward(r, t.model, t.gradients, ws, layer, (live) => live.inv_temperature)
}

function recordSft(
  r: Recorder<'row' | 'inv_token_count'>,
  t: ActorTensors,
  ws: Workspace,
  layer: number,
): void {
  loadRows(r, t.batch, ws)
  forward(r, t.model, ws)
  readPolicy(r, t.model, ws, layer, 1)
  const { log_probs, response_mask, d_log_probs, d_entropy } = ws.response
  const tokens = ws.rows * ws.response_length
  r.run(
    sft_loss,
    { tokens, inv_token_count: (live) => live.inv_token_count },
    { log_probs, response_mask, d_log_probs, d_entropy, sums: t.sums },
  )
  backward(r, t.model, t.gradients, ws, layer, 1)
}

/** Global norm, clip and AdamW over the parameters that the policy of `layer` trains; the others are not touched. */
function recordApply(
  r: Recorder<ApplyLive>,
  t: ActorTensors,
  layout: ParamLayout,
  layer: number,
): void {
  const { count, segments } = trainedPrefix(layout, layer)
  const { partials, control, corrections, chunk_segment, m, v } = t
  r.run(grad_norm_partial, { count }, { gradients: t.gradients.flat, partials })
  r.run(
    grad_norm_finish,
    {
      max_norm: (live) => live.max_norm,
      segments: layout.segment_ends.length,
      active_segments: segments,
      one_minus_beta1: (live) => 1 - live.beta1,
      one_minus_beta2: (live) => 1 - live.beta2,
    },
    { partials, control, corrections },
  )
  r.run(
    adamw_update,
    {
      count,
      lr: (live) => live.lr,
      beta1: (live) => live.beta1,
      beta2: (live) => live.beta2,
      one_minus_beta1: (live) => 1 - live.beta1,
      one_minus_beta2: (live) => 1 - live.beta2,
      eps: ADAM_EPS,
      weight_decay: (live) => live.weight_decay,
    },
    {
      gradients: t.gradients.flat,
      control,
      chunk_segment,
      corrections,
      weights: t.model.weights.flat,
      m,
      v,
    },
  )
}

function recordProbe(alloc: Allocator, r: Recorder<'row'>, t: ActorTensors, size: ActorSize): void {
  const ws = t.probe
  loadRows(r, t.batch, ws)
  const stride = probeStride(size)
  const count = ws.rows * ws.response_length
  r.copy(ws.response.response_mask, t.probe_mask, { count })
  const layers = t.model.shape.num_hidden_layers
  forward(r, t.model, ws, layers, (l) => {
    const entropy = alloc.view(t.probe_entropy, `probe_entropy.${l}`, l * stride, [
      ws.rows,
      ws.response_length,
    ])
    const { log_probs, lse } = ws.response
    readPolicy(r, t.model, ws, l, 1, { log_probs, lse, entropy })
  })
  const sets = layers + 1
  r.run(
    masked_sum,
    { count: stride, sets },
    { values: t.probe_entropy, mask: t.probe_mask, sums: t.probe_sums },
  )
}
