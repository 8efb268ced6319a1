// Records global norm, clip and AdamW over what is trained, stretch by stretch, or Muon for the
// matrices of it; recorded for each layer that phases train.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { LiveValues, Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { find_nonfinite_gradient } from '../../kernels/nonfinite/nonfinite.ts'
import {
  adamw_update,
  adamw_update_rates,
  CONTROL,
  grad_norm_finish,
  grad_norm_finish_rates,
  grad_norm_partial,
} from '../../kernels/optimizer/optimizer.ts'
import { CHUNK, chunkSegments, trainedPrefix } from '../../model/layout/flat_params.ts'
import { within } from '../../model/params/param_buffers.ts'
import { MUON } from '../config/muon.ts'
import { muonOf, type Optim, weightDecays } from '../config/optim.ts'
import { frozenRuns } from '../config/trained_segments.ts'
import { defaultsOf } from '../fields/field.ts'
import { MUON_LIVE, muonLive, recordMuon } from './muon/muon.ts'
import type { OptimizerTensors } from './optimizer_tensors.ts'

/** torch.optim.AdamW's eps. */
const ADAM_EPS = 1e-8

const APPLY_LIVE = [
  'lr',
  'beta1',
  'beta2',
  'weight_decay',
  'vector_weight_decay',
  'max_norm',
  'update',
  ...MUON_LIVE,
] as const
export type ApplyLive = (typeof APPLY_LIVE)[number]

const live =
  (name: ApplyLive) =>
  (values: LiveValues<ApplyLive>): number =>
    values[name]
const oneMinus =
  (name: 'beta1' | 'beta2') =>
  (values: LiveValues<ApplyLive>): number =>
    1 - values[name]

/** A factor of the learning rate for every segment (trained_segments.ts); undefined = the whole
 * prefix at one rate. */
type LrFactors = readonly number[] | undefined

/** Global norm, clip and AdamW over the parameters that the policy of `layer` trains; the others
 * are not touched. With `lr_factors` over those of a factor above 0. With `ns_steps` the matrices
 * have a step of Muon instead. */
export function recordApply(
  alloc: Allocator,
  r: Recorder<ApplyLive>,
  t: OptimizerTensors,
  layer: number,
  {
    lr_factors,
    ns_steps,
  }: { readonly lr_factors: LrFactors; readonly ns_steps?: number | undefined },
): void {
  const { layout, partials, control, corrections } = t
  const all = { count: layout.size, segments: layout.segment_ends.length }
  const { count: end, segments } = lr_factors ? all : trainedPrefix(layout, layer)
  if (lr_factors) clearFrozen(alloc, r, t, lr_factors)
  const trained = t.stretches.filter(({ start }) => start < end)
  trained.forEach(({ start, count, gradients }, i) => {
    const params = { count: Math.min(count, end - start), first: start, accumulate: i > 0 ? 1 : 0 }
    r.run(grad_norm_partial, params, { gradients, partials })
  })
  const finish = {
    max_norm: live('max_norm'),
    segments: layout.segment_ends.length,
    active_segments: segments,
    one_minus_beta1: oneMinus('beta1'),
    one_minus_beta2: oneMinus('beta2'),
  }
  const rates = { lr_factors: t.lr_factors }
  if (lr_factors)
    r.run(grad_norm_finish_rates, finish, { partials, control, corrections, ...rates })
  else r.run(grad_norm_finish, finish, { partials, control, corrections })
  const muon = ns_steps === undefined ? undefined : t.muon
  if (muon && ns_steps !== undefined)
    recordMuon(alloc, r, { ...t, muon }, { end, lr_factors, ns_steps })
  const stretches = muon ? muon.rest.filter(({ start }) => start < end) : trained
  for (const { start, count, ...stretch } of stretches) {
    const params = updateParams(Math.min(count, end - start))
    const tensors = { ...stretch, control, corrections }
    if (lr_factors) r.run(adamw_update_rates, params, { ...tensors, ...rates })
    else r.run(adamw_update, params, tensors)
  }
  for (const { start, count, gradients } of trained)
    r.run(
      find_nonfinite_gradient,
      { count: Math.min(count, end - start), first: start, slot: live('update') },
      { values: gradients, marks: control, found: t.nonfinite },
    )
}

const updateParams = (count: number) => ({
  count,
  lr: live('lr'),
  beta1: live('beta1'),
  beta2: live('beta2'),
  one_minus_beta1: oneMinus('beta1'),
  one_minus_beta2: oneMinus('beta2'),
  eps: ADAM_EPS,
  weight_decay: live('weight_decay'),
  vector_weight_decay: live('vector_weight_decay'),
})

/** Keeps what a phase freezes out of the norm, where there are gradients of it. */
function clearFrozen(
  alloc: Allocator,
  r: Recorder<ApplyLive>,
  { layout, gradients: { buffers } }: OptimizerTensors,
  lr_factors: readonly number[],
): void {
  for (const { offset, count } of frozenRuns(layout, lr_factors))
    for (const { stretch, from, to } of within(buffers, offset, offset + count))
      r.clear(alloc.view(stretch.tensor, 'frozen_gradients', from - stretch.start, [to - from]))
}

const applyKey = (layer: number, lr_factors: LrFactors, optim: Updater): string => {
  const part = lr_factors ? frozenKey(lr_factors) : `layer ${layer}`
  const muon = muonOf(optim)
  return muon ? `${part} muon ${muon.ns_steps}` : part
}

/** Programs differ in what they leave out; the rates themselves are data. */
const frozenKey = (lr_factors: readonly number[]) =>
  lr_factors.map((factor) => (factor === 0 ? '-' : '+')).join('')

/** What a program is recorded for. */
type Updater = Pick<Optim, 'optimizer' | 'muon'>

/** AdamW or Muon with clipping. Calls encode GPU work in order; nothing is read back. */
export class Optimizer {
  readonly tensors: OptimizerTensors
  readonly #gpu: Gpu
  #clear: Program<never>
  #apply = new Map<string, Program<ApplyLive>>()
  /** What lr_factors holds. */
  #lrFactors = ''
  #updates = 0

  protected constructor(gpu: Gpu, tensors: OptimizerTensors, clear: Program<never>) {
    this.#gpu = gpu
    this.tensors = tensors
    this.#clear = clear
  }

  /** Uploads what depends on the layout alone. */
  static async create(gpu: Gpu, tensors: OptimizerTensors): Promise<Optimizer> {
    return new Optimizer(gpu, tensors, await Optimizer.begin(gpu, tensors))
  }

  protected static begin(gpu: Gpu, tensors: OptimizerTensors): Promise<Program<never>> {
    const segments = chunkSegments(tensors.layout)
    for (const { start, count, chunk_segment } of [
      ...tensors.stretches,
      ...(tensors.muon?.rest ?? []),
    ])
      gpu.write(chunk_segment, segments.subarray(start / CHUNK, (start + count) / CHUNK))
    return gpu.record('clear_gradients', [], (r) => {
      for (const { tensor } of tensors.gradients.buffers.stretches) r.clear(tensor)
    })
  }

  /** Records the step of the policy of `layer`, if that has not been done. */
  async prepare(layer: number, optim: Updater = {}, lr_factors?: LrFactors): Promise<void> {
    const key = applyKey(layer, lr_factors, optim)
    if (this.#apply.has(key)) return
    const ns_steps = muonOf(optim)?.ns_steps
    const record = (r: Recorder<ApplyLive>) =>
      recordApply(this.#gpu, r, this.tensors, layer, { lr_factors, ns_steps })
    const label = ns_steps === undefined ? 'adamw' : 'muon'
    this.#apply.set(key, await this.#gpu.record(label, APPLY_LIVE, record))
  }

  /** Optimizer steps since beginStep. */
  get updates(): number {
    return this.#updates
  }

  beginStep(): void {
    this.#updates = 0
    this.#gpu.clear(this.tensors.nonfinite)
  }

  clearGradients(): void {
    this.#gpu.replay(this.#clear)
  }

  /** Clips the gradients and takes one step with the learning rate `lr`, of each segment
   * times its factor. */
  apply(layer: number, optim: Optim, max_norm: number, lr: number, lr_factors?: LrFactors): void {
    const program = this.#apply.get(applyKey(layer, lr_factors, optim))
    if (!program) throw new Error(`optimizer: layer ${layer} was not prepared`)
    if (lr_factors) this.#setFactors(lr_factors)
    const { control, history } = this.tensors
    const [beta1, beta2] = optim.betas
    const decay = weightDecays(optim)
    const update = this.#updates
    const muon = muonLive(muonOf(optim) ?? defaultsOf(MUON))
    this.#gpu.replay(program, { lr, beta1, beta2, ...decay, max_norm, update, ...muon })
    this.#gpu.copy(control, history, { toOffset: this.#updates * CONTROL.length })
    this.#updates++
  }

  /** Uploads the factors where they are not those of the last step. */
  #setFactors(lr_factors: readonly number[]): void {
    const key = lr_factors.join()
    if (key === this.#lrFactors) return
    this.#gpu.write(this.tensors.lr_factors, Float32Array.from(lr_factors))
    this.#lrFactors = key
  }

  /** A new optimizer: moments, step counts and counters start from zero. */
  resetOptimizer(): void {
    const { m, v, corrections, control } = this.tensors
    for (const { stretches } of [m, v]) for (const { tensor } of stretches) this.#gpu.clear(tensor)
    for (const tensor of [corrections, control]) this.#gpu.clear(tensor)
  }
}
