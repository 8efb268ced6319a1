// Keeps the params of each program in a uniform buffer, bound at fixed places: a bind group without
// an offset takes less JavaScript to set than one with an offset.
import type { DispatchTable, Place } from './base/dispatch_table.ts'
import { SLOT_BYTES } from './base/program.ts'
import type { Buffers } from './buffers.ts'
import type { OpenDevice } from './open_device.ts'

/** A place for a program's params, with nothing in it: 256 bytes for each dispatch. */
export function createPlace(
  open: OpenDevice,
  buffers: Pick<Buffers, 'createUncounted'>,
  label: string,
  table: DispatchTable,
): Place {
  const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST
  const buffer = buffers.createUncounted(`params of ${label}`, table.params.byteLength, usage)
  const groups = table.dispatches.map(({ kernel, layout, storage }, i) => {
    const params = { buffer, offset: i * SLOT_BYTES, size: SLOT_BYTES }
    return bindGroup(open, { label: `${label}/${kernel.name}`, layout, params, storage })
  })
  return { buffer, groups, version: -1, submit: -1 }
}

/** Binds params and tensors of a dispatch. */
export function bindGroup(
  { device, counts }: OpenDevice,
  {
    label,
    layout,
    params,
    storage,
  }: {
    readonly label: string
    readonly layout: GPUBindGroupLayout
    readonly params: GPUBufferBinding
    readonly storage: readonly GPUBufferBinding[]
  },
): GPUBindGroup {
  counts.bind_groups++
  const entries = [params, ...storage].map((resource, binding) => ({ binding, resource }))
  return device.createBindGroup({ label, layout, entries })
}
