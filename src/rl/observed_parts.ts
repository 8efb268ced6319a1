// The recorded parts of an observation: the quantities of one group on the probe's rows, and the lens on texts.
import { type Gpu, tooLarge } from '../kernels/gpu.ts'
import { OwnedTensors } from '../kernels/owned.ts'
import type { Program } from '../kernels/program.ts'
import { type Allocator, MemoryPlan } from '../kernels/tensor.ts'
import {
  createInternalMoments,
  type InternalMoments,
  recordInternalMoments,
} from '../model/internal_moments.ts'
import type { MeanQuantity } from '../model/internal_quantities.ts'
import { recordInternals } from '../model/internals.ts'
import { createInternals } from '../model/internals_tensors.ts'
import { createLens, type LensTensors, recordLens } from '../model/lens.ts'
import type { Model } from '../model/transformer.ts'
import type { ActorTensors } from './actor_tensors.ts'
import { OBSERVED_GROUPS, type ObservedGroup } from './observation.ts'

/** The part of the actor that an observation borrows: the policy's weights, and its probe's workspace and mask. */
export type Observed = Pick<ActorTensors, 'model' | 'probe' | 'probe_mask'>

/** What has been recorded, and how to free it. */
interface Part<T, L extends string> {
  readonly tensors: T
  readonly program: Program<L>
  free(): void
}

export type GroupPart = Part<InternalMoments, never>
export type LensPart = Part<LensTensors, 'text'>

/**
 * Allocates and records the quantities of one group. Throws RangeError for a layer that the model has not, and GpuError
 * too_large for tensors beyond the adapter's limits, before anything is allocated; GpuError shader where one does not compile.
 */
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

/** The same for a lens on so many texts of at most `width` tokens. */
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

async function createPart<T, L extends string>(
  gpu: Gpu,
  create: (alloc: Allocator) => T,
  record: (tensors: T) => Promise<Program<L>>,
): Promise<Part<T, L>> {
  const plan = new MemoryPlan()
  create(plan)
  const { label, bytes } = plan.largest
  const allowed = gpu.facts.max_binding_bytes
  if (bytes > allowed) throw tooLarge(label, bytes, allowed)
  const memory = new OwnedTensors(gpu, 'probes')
  const tensors = create(memory)
  try {
    return { tensors, program: await record(tensors), free: () => memory.free() }
  } catch (error) {
    memory.free()
    throw error
  }
}
