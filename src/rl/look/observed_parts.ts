// Holds the recorded parts of an observation: the quantities of one group on the probe's rows, and
// the lens on texts.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import { GpuError, tooLarge } from '../../kernels/device/base/errors.ts'
import { type Allocator, MemoryPlan, type Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { OwnedTensors } from '../../kernels/device/owned.ts'
import { STAGE_STAMPS } from '../../kernels/device/timing/stage_clock.ts'
import { bytesOf } from '../../kernels/device/transfer.ts'
import {
  createInternalMoments,
  type InternalMoments,
  recordInternalMoments,
} from '../../model/internals/internal_moments.ts'
import type { MeanQuantity } from '../../model/internals/internal_quantities.ts'
import { recordInternals } from '../../model/internals/internals.ts'
import { createInternals, type InternalsTensors } from '../../model/internals/internals_tensors.ts'
import { createLens, type LensTensors, recordLens } from '../../model/internals/lens.ts'
import type { Model } from '../../model/transformer/model.ts'
import type { ActorTensors } from '../learners/actor_tensors.ts'
import { OBSERVED_GROUPS, type ObservedGroup } from './observation.ts'

/** The part of the actor that an observation borrows: the policy's weights, and its probe's
 * workspace and mask. */
export type Observed = Pick<ActorTensors, 'model' | 'probe' | 'probe_mask'>

/** What has been recorded, and how to free it. */
interface Part<T, L extends string> {
  readonly tensors: T
  readonly program: Program<L>
  free(): void
}

export type GroupPart = Part<InternalMoments, never>
export type LensPart = Part<LensTensors, 'text'>

/** Entropies of every layer at every token of a traced step's rows. */
export interface TokenLayerTensors {
  readonly internals: InternalsTensors<'ent_layer_raw' | 'ent_layer_norm'>
  /** What came of each chunk of the probe's rows, [chunks, values]. */
  readonly all: Tensor<'f32'>
}
export type TokenLayersPart = Part<TokenLayerTensors, 'chunk'>

/** Allocates and records the quantities of one group. Throws RangeError for a layer that the model
 * has not, and GpuError too_large for tensors beyond the adapter's limits, before anything is
 * allocated; GpuError shader where one does not compile. */
export function createGroup(
  gpu: Gpu,
  { model, probe, probe_mask }: Observed,
  group: ObservedGroup,
  layer: number,
): Promise<GroupPart> {
  const quantities: readonly MeanQuantity[] = OBSERVED_GROUPS[group]
  const create = (alloc: Allocator) => {
    const options = { quantities, positions: 'response', layer } as const
    return createInternalMoments(alloc, createInternals(alloc, model.shape, probe, options))
  }
  return createPart(gpu, create, (t) =>
    gpu.record(`observe_${group}`, [], (r) => {
      recordInternals(r, model, t.internals)
      recordInternalMoments(r, t, probe_mask)
    }),
  )
}

/** The same for a lens on a number of texts of at most `width` tokens. */
export function createLensPart(
  gpu: Gpu,
  model: Model,
  size: { readonly texts: number; readonly width: number },
): Promise<LensPart> {
  const create = (alloc: Allocator) => createLens(alloc, model.shape, size)
  return createPart(gpu, create, (t) =>
    gpu.record('observe_lens', ['text'], (r) => recordLens(r, model, t)),
  )
}

/** The same for the entropies of a number of rows, computed in chunks of the probe's rows. */
export function createTokenLayers(
  gpu: Gpu,
  { model, probe }: Observed,
  rows: number,
): Promise<TokenLayersPart> {
  const chunks = Math.ceil(rows / probe.rows)
  const quantities = ['ent_layer_raw', 'ent_layer_norm'] as const
  const create = (alloc: Allocator): TokenLayerTensors => {
    const options = { quantities, positions: 'response' } as const
    const internals = createInternals(alloc, model.shape, probe, options)
    const [count] = internals.outputs[0].shape
    return { internals, all: alloc.tensor('internals.all_values', 'f32', [chunks, count]) }
  }
  return createPart(gpu, create, ({ internals, all }) =>
    gpu.record('observe_tokens', ['chunk'], (r) => {
      recordInternals(r, model, internals)
      const [, count] = all.shape
      r.copy(internals.outputs[0], all, { toOffset: ({ chunk }) => chunk * count, count })
    }),
  )
}

/** Makes room for a readback of each of these parts and one of their times, all under way at once:
 * then they create no buffer. */
export function reserveReadings(gpu: Gpu, parts: readonly (readonly Tensor[])[]): void {
  for (const tensors of parts) gpu.reserveReads(bytesOf(tensors), 1)
  gpu.reserveReads(4 * STAGE_STAMPS, 1)
}

/** What has been made for a request, or why it could not be: it is not tried again. */
export type Made<T> = { readonly part: T } | { readonly part?: undefined; readonly refused: string }

/** Makes a part; where that fails for a reason that ends no run, says so. */
export async function make<T>(create: () => Promise<T>): Promise<Made<T>> {
  try {
    return { part: await create() }
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/** Why something that was asked for cannot be shown. Errors that end a run are thrown on. */
export function reasonOf(error: unknown): string {
  const isOfPart =
    error instanceof GpuError && (error.code === 'too_large' || error.code === 'shader')
  if (error instanceof RangeError || isOfPart) return error.message
  throw error
}

/** Throws GpuError too_large for a tensor beyond the adapter's limits. */
export function requireRoom(gpu: Gpu, plan: MemoryPlan): void {
  const { label, bytes } = plan.largest
  const allowed = gpu.facts.max_binding_bytes
  if (bytes > allowed) throw tooLarge(label, bytes, allowed)
}

async function createPart<T, L extends string>(
  gpu: Gpu,
  create: (alloc: Allocator) => T,
  record: (tensors: T) => Promise<Program<L>>,
): Promise<Part<T, L>> {
  const plan = new MemoryPlan()
  create(plan)
  requireRoom(gpu, plan)
  const memory = new OwnedTensors(gpu, 'probes')
  const tensors = create(memory)
  try {
    return { tensors, program: await record(tensors), free: () => memory.free() }
  } catch (error) {
    memory.free()
    throw error
  }
}
