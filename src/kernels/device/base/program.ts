// Describes a program: a list of kernel calls, copies and clears, recorded once and replayed with
// other live values.
import { ShapeError } from './errors.ts'
import {
  type AnyKernel,
  type Binding,
  type Kernel,
  MAX_GRID,
  type Names,
  type ParamType,
} from './kernel.ts'
import { sizeOf, type Tensor } from './tensor.ts'
import type { Timing } from './timing.ts'

/** Values that vary from replay to replay: learning rate, step, temperature, row. */
export type LiveValues<L extends string> = { readonly [K in L]: number }
/** A recorded number: fixed, or computed from the live values at each replay. */
export type Value<L extends string> = number | ((live: LiveValues<L>) => number)

/** Workgroups in each dimension. */
export type Grid = readonly [number, number, number]

export interface Dispatch {
  readonly kind: 'dispatch'
  readonly kernel: AnyKernel
  readonly tensors: Names<Tensor>
  /** Undefined where live values decide it. */
  readonly grid: Grid | undefined
  /** The params as bytes, with zeros where live values go. */
  readonly params: Uint8Array
  readonly patches: readonly Patch[]
  /** Set when the program has been compiled. */
  pipeline: GPUComputePipeline
  layout: GPUBindGroupLayout
  /** What its tensors bind, in the order of the kernel's bindings. */
  storage: readonly GPUBufferBinding[]
  /** How long it takes, where dispatches are limited (`Gpu.limitDispatches`). */
  timing?: Timing
  /** Set when it takes too long in one piece. */
  cut?: Cut
}
/** What runs in place of a dispatch that is cut into parts of its grid (`splitKernel`). */
export interface Cut {
  readonly pipeline: GPUComputePipeline
  /** Takes the place of a part's params as its offset. */
  readonly group: GPUBindGroup
  readonly parts: number
}
export interface Copy {
  readonly kind: 'copy'
  readonly from: Tensor
  readonly to: Tensor
  readonly fromOffset: Value<string>
  readonly toOffset: Value<string>
  readonly count: number
}
export interface Clear {
  readonly kind: 'clear'
  readonly tensor: Tensor
  readonly count: number
}
export type Command = Dispatch | Copy | Clear

/** A param that is computed at each replay. */
interface Patch {
  readonly name: string
  /** Byte offset in the params. */
  readonly offset: number
  readonly dtype: ParamType
  readonly value: (live: LiveValues<string>) => number
}

/** Records kernel calls, copies and clears into a Program. */
export interface Recorder<L extends string> {
  run<P extends Names<ParamType>, B extends Names<Binding>>(
    kernel: Kernel<P, B>,
    params: { [K in keyof P]: Value<L> },
    tensors: { [K in keyof B]: Tensor },
  ): void
  /** Copies `count` elements (default: all of the smaller tensor); offsets count elements. */
  copy(
    from: Tensor,
    to: Tensor,
    options?: { fromOffset?: Value<L>; toOffset?: Value<L>; count?: number },
  ): void
  /** Zeroes the first `count` elements (default: all). */
  clear(tensor: Tensor, count?: number): void
}

/** WebGPU's default minUniformBufferOffsetAlignment: what one dispatch's params may take, 64
 * scalars. */
export const SLOT_BYTES = 256

/** Runs `build` and collects what it records. Throws ShapeError for a missing param or a grid
 * WebGPU cannot dispatch; a grid that live values decide is checked at each replay. */
export function collect<L extends string>(
  label: string,
  build: (recorder: Recorder<L>) => void,
): Command[] {
  const commands: Command[] = []
  build({
    run: (kernel, params, tensors) => {
      commands.push(makeDispatch(label, kernel as unknown as AnyKernel, params, tensors))
    },
    copy: (from, to, { fromOffset = 0, toOffset = 0, count } = {}) => {
      commands.push({
        kind: 'copy',
        from,
        to,
        fromOffset: fromOffset as Value<string>,
        toOffset: toOffset as Value<string>,
        count: count ?? Math.min(sizeOf(from.shape), sizeOf(to.shape)),
      })
    },
    clear: (tensor, count = sizeOf(tensor.shape)) => {
      commands.push({ kind: 'clear', tensor, count })
    },
  })
  return commands
}

function makeDispatch(
  label: string,
  kernel: AnyKernel,
  params: Names<unknown>,
  tensors: Names<Tensor>,
): Dispatch {
  const names = Object.entries(kernel.params)
  const bytes = new Uint8Array(names.length * 4)
  const patches: Patch[] = []
  const fixed: Record<string, number> = {}
  names.forEach(([name, dtype], i) => {
    const value = params[name] as Value<string> | undefined
    if (typeof value === 'function') patches.push({ name, offset: i * 4, dtype, value })
    else if (typeof value === 'number') {
      fixed[name] = value
      setScalar(new DataView(bytes.buffer), i * 4, dtype, value)
    } else throw new ShapeError(`${label}/${kernel.name}: param ${name} is missing`)
  })
  const where = `${label}/${kernel.name}`
  const grid = dependsOnLive(kernel, fixed, params) ? undefined : checkedGrid(kernel, fixed, where)
  const uncompiled = { pipeline: undefined as never, layout: undefined as never, storage: [] }
  return { kind: 'dispatch', kernel, tensors, grid, params: bytes, patches, ...uncompiled }
}

/** Whether the grid asks for a param that varies from replay to replay. */
function dependsOnLive(kernel: AnyKernel, fixed: Names<number>, params: Names<unknown>): boolean {
  let asked = false
  const watched = new Proxy(fixed, {
    get: (_, name: string) => {
      if (typeof params[name] === 'function') asked = true
      return fixed[name] ?? 1
    },
  })
  kernel.workgroups(watched)
  return asked
}

const isExtent = (n: number) => Number.isInteger(n) && n > 0 && n <= MAX_GRID

/** A kernel's grid for these params. Throws ShapeError where WebGPU cannot dispatch it. */
export function checkedGrid(kernel: AnyKernel, params: Names<number>, where: string): Grid {
  const [x, y = 1, z = 1] = kernel.workgroups(params)
  if (!isExtent(x) || !isExtent(y) || !isExtent(z))
    throw new ShapeError(
      `${where}: grid [${x}, ${y}, ${z}] must be 1 to ${MAX_GRID} in each dimension`,
    )
  return [x, y, z]
}

const getScalar = (view: DataView, offset: number, dtype: ParamType): number =>
  dtype === 'f32' ? view.getFloat32(offset, true) : view.getUint32(offset, true)

/** A number as a kernel gets it. */
export const asScalar = (dtype: ParamType, value: number): number =>
  dtype === 'f32' ? Math.fround(value) : value >>> 0

/** A recorded list with what a GPU runs in place of its kernels. */
export const suitedToGpu = (commands: readonly Command[]): Command[] =>
  commands.map((command) => {
    if (command.kind !== 'dispatch' || !command.kernel.onGpu) return command
    const { params, patches } = command
    const kernel = command.kernel.onGpu
    // Its grid may ask for a live param, even where that of the kernel asks for none.
    if (patches.length > 0) return { ...command, kernel, grid: undefined }
    const numbers = readParams(kernel.params, new DataView(params.buffer, params.byteOffset), 0)
    return { ...command, kernel, grid: checkedGrid(kernel, numbers, kernel.name) }
  })

/** The params of one dispatch as numbers. */
export function readParams(
  params: Names<ParamType>,
  bytes: DataView,
  offset: number,
): Names<number> {
  const numbers: Record<string, number> = {}
  let at = offset
  for (const name in params) {
    numbers[name] = getScalar(bytes, at, params[name])
    at += 4
  }
  return numbers
}

/** Writes one scalar as WGSL lays out a struct of them. */
export function setScalar(view: DataView, offset: number, dtype: ParamType, value: number): void {
  if (dtype === 'f32') view.setFloat32(offset, value, true)
  else view.setUint32(offset, value, true)
}

/** A recorded number that follows from another. */
export const derived = <L extends string>(
  value: Value<L>,
  of: (value: number) => number,
): Value<L> => (typeof value === 'function' ? (live) => of(value(live)) : of(value))

/** A recorded number at these live values. */
export const valueAt = (value: Value<string>, live: LiveValues<string>): number =>
  typeof value === 'function' ? value(live) : value
