// The only file that touches GPUDevice. Everything above it sees Gpu, Tensor, Kernel and Program.
import { GpuError, ShapeError } from './errors.ts'

export type DType = 'f32' | 'u32'

/** What a tensor is kept for: the rows of the memory table. */
export type MemoryKind =
  | 'weights'
  | 'gradients'
  | 'optimizer'
  | 'activations'
  | 'kv_cache'
  | 'batch'
  | 'scratch'

/** A typed, shaped, contiguous part of one storage buffer. Row-major; `offset` counts elements. */
export interface Tensor<D extends DType = DType> {
  readonly label: string
  readonly dtype: D
  readonly shape: readonly number[]
  readonly buffer: GPUBuffer
  readonly offset: number
}

export type Access = 'read' | 'read_write'
type Names<T> = { readonly [name: string]: T }

/** What the compiler needs of a kernel. */
interface Shader {
  /** Same as the .wgsl file's stem, plus its variant; labels the pipeline and is its cache key. */
  readonly name: string
  readonly wgsl: string
  /** WGSL `override` constants. A kernel with other constants is another kernel: give it another name. */
  readonly constants?: Record<string, number>
}

export interface Kernel<P extends Names<DType>, B extends Names<Access>> extends Shader {
  /** Fields of `struct Params`, in order. Bound at @binding(0). */
  readonly params: P
  /** Storage buffers, in order, bound at @binding(1..). At most 8. */
  readonly bindings: B
  /** Grid of workgroups; may only use params that are plain numbers when recorded. */
  readonly workgroups: (params: { [K in keyof P]: number }) => readonly [number, number?, number?]
}

/** Any kernel, for lists of them. */
export type AnyKernel = Kernel<Names<DType>, Names<Access>>

/** Checks a kernel's declaration and infers its names, so that `run` can hold callers to them. */
export function defineKernel<const P extends Names<DType>, const B extends Names<Access>>(
  kernel: Kernel<P, B>,
): Kernel<P, B> {
  return kernel
}

/** WebGPU's limit of workgroups per dimension. */
const MAX_GRID = 65535

/**
 * Folds a count of workgroups into two dimensions, because each holds at most 65,535.
 * The kernel recovers the index as `group.x + group.y * grid.x` and guards the overhang.
 */
export function foldGrid(groups: number): [number, number] {
  if (groups <= MAX_GRID) return [groups, 1]
  const y = Math.ceil(groups / MAX_GRID)
  return [Math.ceil(groups / y), y]
}

/** Elements in a shape. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)

/** Values that vary from replay to replay: learning rate, step, temperature, row. */
export type LiveValues<L extends string> = { readonly [K in L]: number }
/** A recorded number: fixed, or computed from the live values at each replay. */
export type Value<L extends string> = number | ((live: LiveValues<L>) => number)

interface Dispatch {
  readonly kind: 'dispatch'
  readonly name: string
  pipeline: GPUComputePipeline
  group: GPUBindGroup
  readonly slot: number
  readonly grid: readonly [number, number, number]
}
interface Copy {
  readonly kind: 'copy'
  readonly from: Tensor
  readonly to: Tensor
  readonly from_offset: Value<string>
  readonly to_offset: Value<string>
  readonly count: number
}
interface Clear {
  readonly kind: 'clear'
  readonly tensor: Tensor
  readonly count: number
}
type Command = Dispatch | Copy | Clear

interface Patch {
  /** Byte offset in the program's slots. */
  readonly offset: number
  readonly dtype: DType
  readonly value: (live: LiveValues<string>) => number
}

/**
 * A recorded list of GPU commands. Recording creates its pipelines and bind groups; replaying only encodes.
 * `L` names the live values that each replay must supply.
 */
export interface Program<L extends string = string> {
  readonly label: string
  readonly live: readonly L[]
  readonly commands: readonly Command[]
  /** Uniform slots of all dispatches, with zeros where live values go. */
  readonly slots: ArrayBuffer
  readonly patches: readonly Patch[]
  /** Compute dispatches per replay. */
  readonly dispatches: number
}

/** Records kernel calls, copies and clears into a Program. */
export interface Recorder<L extends string> {
  run<P extends Names<DType>, B extends Names<Access>>(
    kernel: Kernel<P, B>,
    params: { [K in keyof P]: Value<L> },
    tensors: { [K in keyof B]: Tensor },
  ): void
  /** Copies `count` elements (default: all of the smaller tensor); offsets count elements. */
  copy(
    from: Tensor,
    to: Tensor,
    options?: { from_offset?: Value<L>; to_offset?: Value<L>; count?: number },
  ): void
  /** Zeroes the first `count` elements (default: all). */
  clear(tensor: Tensor, count?: number): void
}

/** Running totals since the device was opened: what tests assert and the memory panel shows. */
export interface GpuCounts {
  buffers: number
  bind_groups: number
  pipelines: number
  dispatches: number
  submits: number
  reads: number
  /** Bytes uploaded by writeBuffer. */
  uploaded_bytes: number
  /** Bytes of all live buffers, our own count. */
  live_bytes: number
}

/** What the visitor is told about the adapter. */
export interface AdapterFacts {
  readonly vendor: string
  readonly architecture: string
  readonly description: string
  /** True for SwiftShader, lavapipe, WARP: correct, and tens to hundreds of times slower than a GPU. */
  readonly is_software: boolean
  readonly features: readonly string[]
  readonly max_buffer_bytes: number
  readonly max_binding_bytes: number
}

/** Makes tensors: the device, or a plan that only adds up what the device would be asked for. */
export interface Allocator {
  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    options?: TensorOptions,
  ): Tensor<D>
  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D>
  /** Makes room for `count` readbacks of up to `bytes` at a time, so that `read` creates nothing later. */
  reserveReads(bytes: number, count: number): void
}

export interface TensorOptions {
  readonly kind?: MemoryKind
  readonly data?: Float32Array | Uint32Array
}

const noBytes = (): Record<MemoryKind, number> => ({
  weights: 0,
  gradients: 0,
  optimizer: 0,
  activations: 0,
  kv_cache: 0,
  batch: 0,
  scratch: 0,
})

/** Adds up tensors without a device, so that a run's memory is known before anything is allocated. */
export class MemoryPlan implements Allocator {
  readonly bytes = noBytes()
  /** Its label and size decide whether the adapter's binding limit suffices. */
  largest = { label: '', bytes: 0 }

  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    { kind = 'scratch' }: TensorOptions = {},
  ): Tensor<D> {
    const bytes = bufferBytes(shape)
    this.bytes[kind] += bytes
    if (bytes > this.largest.bytes) this.largest = { label: `${label} [${shape}]`, bytes }
    return { label, dtype, shape, buffer: undefined as never, offset: 0 }
  }

  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D> {
    return viewOf(tensor, label, offset, shape)
  }

  reserveReads(bytes: number, count: number): void {
    this.bytes.scratch += bytes * count
  }

  total(): number {
    return Object.values(this.bytes).reduce((a, b) => a + b, 0)
  }
}

/** A buffer is never empty: WebGPU cannot bind zero bytes. */
const bufferBytes = (shape: readonly number[]): number => Math.max(4, sizeOf(shape) * 4)

function viewOf<D extends DType>(
  tensor: Tensor<D>,
  label: string,
  offset: number,
  shape: readonly number[],
): Tensor<D> {
  if (offset < 0 || offset + sizeOf(shape) > sizeOf(tensor.shape))
    throw new ShapeError(
      `${label}: [${shape}] at ${offset} lies outside ${tensor.label} [${tensor.shape}]`,
    )
  const { dtype, buffer } = tensor
  return { label, dtype, shape, buffer, offset: tensor.offset + offset }
}

/** A tensor beyond the adapter's limits: which, how large, how large it may be, what to do. */
export function tooLarge(label: string, bytes: number, allowed: number): GpuError {
  const mb = (n: number) => `${(n / 1e6).toFixed(1)} MB`
  return new GpuError(
    'too_large',
    `${label} needs ${mb(bytes)}; this adapter binds at most ${mb(allowed)}. Choose a smaller batch or a smaller model.`,
  )
}

export interface OpenOptions {
  /** Where WebGPU comes from; the browser's own by default, Dawn in Node. */
  readonly gpu?: GPU
  /** Largest tensor of the run (`MemoryPlan.largest`): limits above WebGPU's defaults are asked for only if it needs them. */
  readonly largest?: { readonly label: string; readonly bytes: number }
}

/** One params slot: WebGPU's default minUniformBufferOffsetAlignment, room for 64 scalars. */
const SLOT_BYTES = 256
/** Slots uploaded at most per submit; a longer list of commands is split into several submits. */
const ARENA_SLOTS = 4096
const DEFAULT_BINDING_BYTES = 134217728
const DEFAULT_BUFFER_BYTES = 268435456
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|warp|microsoft basic render/i

export class Gpu implements Allocator {
  readonly facts: AdapterFacts
  readonly counts: GpuCounts = {
    buffers: 0,
    bind_groups: 0,
    pipelines: 0,
    dispatches: 0,
    submits: 0,
    reads: 0,
    uploaded_bytes: 0,
    live_bytes: 0,
  }
  /** Resolves with the reason when the device is lost; never after `destroy`. */
  readonly lost: Promise<GpuError>
  #device: GPUDevice
  #kinds = new Map<MemoryKind, number>()
  #sizes = new Map<GPUBuffer, { bytes: number; kind: MemoryKind }>()
  #pipelines = new Map<
    string,
    Promise<{ pipeline: GPUComputePipeline; layout: GPUBindGroupLayout }>
  >()
  #staging: GPUBuffer[] = []
  #arena: GPUBuffer
  #staged = new Uint8Array(ARENA_SLOTS * SLOT_BYTES)
  #used = 0
  #encoder: GPUCommandEncoder | undefined
  #pass: GPUComputePassEncoder | undefined
  #failure: GpuError | undefined

  private constructor(device: GPUDevice, facts: AdapterFacts) {
    this.#device = device
    this.facts = facts
    this.#arena = this.#createBuffer(
      'params',
      this.#staged.byteLength,
      GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
      'scratch',
    )
    device.addEventListener('uncapturederror', ({ error }) => {
      const memory = 'GPUOutOfMemoryError' in globalThis && error instanceof GPUOutOfMemoryError
      this.#failure ??= new GpuError(memory ? 'out_of_memory' : 'validation', error.message)
    })
    this.lost = new Promise((resolve) => {
      device.lost.then(({ reason, message }) => {
        if (reason === 'destroyed') return
        this.#failure = new GpuError('lost', `The GPU device was lost: ${message || reason}`)
        resolve(this.#failure)
      })
    })
  }

  /**
   * Opens the adapter. Asks for WebGPU's default limits unless `largest` needs more.
   * Throws GpuError with code insecure_origin, no_webgpu, no_adapter or too_large.
   */
  static async open(options: OpenOptions = {}): Promise<Gpu> {
    const webgpu = options.gpu ?? globalThis.navigator?.gpu
    if (!webgpu && globalThis.isSecureContext === false)
      throw new GpuError(
        'insecure_origin',
        'WebGPU works only on a secure page: open this address with https, or on localhost.',
      )
    if (!webgpu)
      throw new GpuError('no_webgpu', 'This browser has no WebGPU. Use a current Chrome or Edge.')
    const adapter = await webgpu.requestAdapter({ powerPreference: 'high-performance' })
    if (!adapter)
      throw new GpuError(
        'no_adapter',
        'WebGPU offers no GPU here: hardware acceleration is off, or the GPU is on the browser’s block list.',
      )
    const { limits, info } = adapter
    const needed = options.largest?.bytes ?? 0
    const allowed = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
    if (needed > allowed) throw tooLarge(options.largest?.label ?? '', needed, allowed)
    const device = await adapter.requestDevice({
      requiredLimits: {
        ...(needed > DEFAULT_BINDING_BYTES ? { maxStorageBufferBindingSize: needed } : {}),
        ...(needed > DEFAULT_BUFFER_BYTES ? { maxBufferSize: needed } : {}),
      },
    })
    const text = [info.vendor, info.architecture, info.device, info.description].join(' ')
    return new Gpu(device, {
      vendor: info.vendor,
      architecture: info.architecture,
      description: info.description || info.device,
      is_software: info.isFallbackAdapter === true || SOFTWARE.test(text),
      features: [...adapter.features].sort(),
      max_buffer_bytes: device.limits.maxBufferSize,
      max_binding_bytes: device.limits.maxStorageBufferBindingSize,
    })
  }

  /** Live bytes by kind. */
  memory(): Record<MemoryKind, number> {
    const kinds = noBytes()
    for (const [kind, bytes] of this.#kinds) kinds[kind] = bytes
    return kinds
  }

  /** A new zeroed tensor, or one holding `data`. Throws GpuError too_large beyond the adapter's limits. */
  tensor<D extends DType>(
    label: string,
    dtype: D,
    shape: readonly number[],
    options: TensorOptions = {},
  ): Tensor<D> {
    const count = sizeOf(shape)
    const { kind = 'scratch', data } = options
    if (!Number.isSafeInteger(count) || count < 0)
      throw new ShapeError(`${label}: expected a shape of whole numbers, got [${shape}]`)
    const { max_binding_bytes } = this.facts
    if (count * 4 > max_binding_bytes)
      throw tooLarge(`${label} [${shape}]`, count * 4, max_binding_bytes)
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
    const buffer = this.#createBuffer(label, bufferBytes(shape), usage, kind)
    const tensor = { label, dtype, shape, buffer, offset: 0 }
    if (data) this.write(tensor, data)
    return tensor
  }

  /**
   * A part of a tensor, of the same dtype. To be bound by a kernel its offset must be a multiple of 64
   * elements (WebGPU's 256-byte alignment); copies, reads and writes take any offset.
   */
  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D> {
    return viewOf(tensor, label, offset, shape)
  }

  /** Uploads `data` from element `offset` on. Work recorded earlier is submitted first, so it sees the old values. */
  write(tensor: Tensor, data: Float32Array | Uint32Array, offset = 0): void {
    if (offset + data.length > sizeOf(tensor.shape))
      throw new ShapeError(
        `${tensor.label}: ${data.length} values at ${offset} do not fit [${tensor.shape}]`,
      )
    if (data instanceof Float32Array !== (tensor.dtype === 'f32'))
      throw new ShapeError(`${tensor.label}: expected ${tensor.dtype} values`)
    this.submit()
    this.counts.uploaded_bytes += data.byteLength
    this.#device.queue.writeBuffer(
      tensor.buffer,
      (tensor.offset + offset) * 4,
      data.buffer as ArrayBuffer,
      data.byteOffset,
      data.byteLength,
    )
  }

  /** Frees tensors (whole ones, not views). Work already submitted still finishes. */
  free(...tensors: readonly Tensor[]): void {
    for (const { buffer } of tensors) this.#destroyBuffer(buffer)
  }

  /** Compiles kernels ahead of time, so a broken shader is an error here and not a silent no-op later. */
  async prepare(...kernels: readonly Shader[]): Promise<void> {
    await Promise.all(kernels.map((kernel) => this.#compile(kernel as AnyKernel)))
  }

  /**
   * Records a program: compiles what is new and makes every bind group, once. `build` runs synchronously.
   * Throws ShapeError for a missing tensor or a misaligned view, GpuError for a shader that does not compile.
   */
  async record<const L extends string = never>(
    label: string,
    live: readonly L[],
    build: (recorder: Recorder<L>) => void,
  ): Promise<Program<L>> {
    const commands: Command[] = []
    const patches: Patch[] = []
    const slots: DataView[] = []
    const pending: { command: Dispatch; kernel: AnyKernel; tensors: Names<Tensor> }[] = []
    build({
      run: (kernel, params, tensors) => {
        const slot = new DataView(new ArrayBuffer(SLOT_BYTES))
        const fixed: Record<string, number> = {}
        Object.entries(kernel.params).forEach(([name, dtype], i) => {
          const value = params[name] as Value<string> | undefined
          if (typeof value === 'function')
            patches.push({ offset: slots.length * SLOT_BYTES + i * 4, dtype, value })
          else if (typeof value === 'number') {
            fixed[name] = value
            setScalar(slot, i * 4, dtype, value)
          } else throw new ShapeError(`${label}/${kernel.name}: param ${name} is missing`)
        })
        const [x, y = 1, z = 1] = kernel.workgroups(fixed as never)
        if (![x, y, z].every((n) => Number.isInteger(n) && n > 0 && n <= MAX_GRID))
          throw new ShapeError(
            `${label}/${kernel.name}: grid [${x}, ${y}, ${z}] must be 1 to ${MAX_GRID} in each dimension; live params cannot size it`,
          )
        const command = { kind: 'dispatch', name: kernel.name, slot: slots.length, grid: [x, y, z] }
        slots.push(slot)
        commands.push(command as unknown as Dispatch)
        pending.push({
          command: command as unknown as Dispatch,
          kernel: kernel as unknown as AnyKernel,
          tensors: tensors as Names<Tensor>,
        })
      },
      copy: (from, to, { from_offset = 0, to_offset = 0, count } = {}) => {
        const n = count ?? Math.min(sizeOf(from.shape), sizeOf(to.shape))
        commands.push({
          kind: 'copy',
          from,
          to,
          from_offset: from_offset as Value<string>,
          to_offset: to_offset as Value<string>,
          count: n,
        })
      },
      clear: (tensor, count = sizeOf(tensor.shape)) =>
        commands.push({ kind: 'clear', tensor, count }),
    })
    await Promise.all(
      pending.map(async ({ command, kernel, tensors }) => {
        const { pipeline, layout } = await this.#compile(kernel)
        command.pipeline = pipeline
        command.group = this.#bind(`${label}/${kernel.name}`, kernel, layout, tensors)
      }),
    )
    const bytes = new Uint8Array(slots.length * SLOT_BYTES)
    slots.forEach((slot, i) => {
      bytes.set(new Uint8Array(slot.buffer), i * SLOT_BYTES)
    })
    return { label, live, commands, slots: bytes.buffer, patches, dispatches: slots.length }
  }

  /** Encodes a recorded program with these live values. Nothing runs until `submit` or `read`. */
  replay<L extends string>(
    program: Program<L>,
    ...[live]: [L] extends [never] ? [] : [live: LiveValues<L>]
  ): void {
    const values: LiveValues<string> = live ?? {}
    const slots = program.slots.byteLength
    if (slots > this.#staged.byteLength)
      throw new ShapeError(
        `${program.label}: ${program.dispatches} dispatches, at most ${ARENA_SLOTS} fit one program`,
      )
    if (this.#used + slots > this.#staged.byteLength) this.submit()
    const base = this.#used
    this.#staged.set(new Uint8Array(program.slots), base)
    const view = new DataView(this.#staged.buffer, base, slots)
    for (const { offset, dtype, value } of program.patches)
      setScalar(view, offset, dtype, value(values))
    this.#used += slots
    this.counts.dispatches += program.dispatches
    for (const command of program.commands) {
      if (command.kind === 'dispatch') {
        const pass = this.#openPass()
        pass.setPipeline(command.pipeline)
        pass.setBindGroup(0, command.group, [base + command.slot * SLOT_BYTES])
        pass.dispatchWorkgroups(...command.grid)
      } else if (command.kind === 'copy') {
        this.copy(command.from, command.to, {
          from_offset: resolve(command.from_offset, values),
          to_offset: resolve(command.to_offset, values),
          count: command.count,
        })
      } else {
        const { tensor, count } = command
        this.#openEncoder().clearBuffer(tensor.buffer, tensor.offset * 4, count * 4)
      }
    }
  }

  /** Encodes one copy of `count` elements (default: all of the smaller tensor). */
  copy(
    from: Tensor,
    to: Tensor,
    { from_offset = 0, to_offset = 0, count = Math.min(sizeOf(from.shape), sizeOf(to.shape)) } = {},
  ): void {
    this.#openEncoder().copyBufferToBuffer(
      from.buffer,
      (from.offset + from_offset) * 4,
      to.buffer,
      (to.offset + to_offset) * 4,
      count * 4,
    )
  }

  /** Encodes zeroing a tensor. */
  clear(tensor: Tensor): void {
    this.#openEncoder().clearBuffer(tensor.buffer, tensor.offset * 4, sizeOf(tensor.shape) * 4)
  }

  /** Records and replays one kernel call: for tests and one-off work, not for a training step. */
  async run<P extends Names<DType>, B extends Names<Access>>(
    kernel: Kernel<P, B>,
    params: { [K in keyof P]: number },
    tensors: { [K in keyof B]: Tensor },
  ): Promise<void> {
    this.replay(await this.record(kernel.name, [], (r) => r.run(kernel, params, tensors)))
  }

  /** Sends everything encoded so far to the GPU. Throws the first error WebGPU reported since. */
  submit(): void {
    if (this.#failure) throw this.#failure
    if (!this.#encoder) return
    this.#pass?.end()
    this.#pass = undefined
    if (this.#used > 0) this.#device.queue.writeBuffer(this.#arena, 0, this.#staged, 0, this.#used)
    this.counts.uploaded_bytes += this.#used
    this.#device.queue.submit([this.#encoder.finish()])
    this.counts.submits++
    this.#encoder = undefined
    this.#used = 0
  }

  /** Submits, then copies tensors to the CPU in one readback. Resolves when the GPU has got that far. */
  async read<T extends readonly Tensor[]>(
    ...tensors: T
  ): Promise<{
    [K in keyof T]: T[K] extends Tensor<'u32'>
      ? Uint32Array<ArrayBuffer>
      : Float32Array<ArrayBuffer>
  }> {
    const sizes = tensors.map((t) => sizeOf(t.shape) * 4)
    const total = sizes.reduce((a, b) => a + b, 0)
    const staging = this.#takeStaging(total)
    let at = 0
    tensors.forEach((t, i) => {
      this.#openEncoder().copyBufferToBuffer(t.buffer, t.offset * 4, staging, at, sizes[i])
      at += sizes[i]
    })
    this.submit()
    this.counts.reads++
    try {
      await staging.mapAsync(GPUMapMode.READ, 0, total)
    } catch (error) {
      throw this.#failure ?? new GpuError('lost', `Reading back ${tensors[0]?.label}: ${error}`)
    }
    const copy = staging.getMappedRange(0, total).slice(0)
    staging.unmap()
    this.#staging.push(staging)
    if (this.#failure) throw this.#failure
    let start = 0
    return tensors.map((t, i) => {
      const part = copy.slice(start, start + sizes[i])
      start += sizes[i]
      return t.dtype === 'f32' ? new Float32Array(part) : new Uint32Array(part)
    }) as never
  }

  /** Resolves when the GPU has finished everything submitted. For benchmarks. */
  async finish(): Promise<void> {
    this.submit()
    await this.#device.queue.onSubmittedWorkDone()
    if (this.#failure) throw this.#failure
  }

  /** Frees the device and all its memory. */
  destroy(): void {
    this.#device.destroy()
    this.#sizes.clear()
    this.#kinds.clear()
    this.counts.live_bytes = 0
  }

  #openEncoder(): GPUCommandEncoder {
    this.#pass?.end()
    this.#pass = undefined
    this.#encoder ??= this.#device.createCommandEncoder()
    return this.#encoder
  }

  #openPass(): GPUComputePassEncoder {
    this.#pass ??= this.#openEncoder().beginComputePass()
    return this.#pass
  }

  #createBuffer(label: string, bytes: number, usage: number, kind: MemoryKind): GPUBuffer {
    if (this.#failure) throw this.#failure
    const buffer = this.#device.createBuffer({ label, size: bytes, usage })
    this.#sizes.set(buffer, { bytes, kind })
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + bytes)
    this.counts.buffers++
    this.counts.live_bytes += bytes
    return buffer
  }

  #destroyBuffer(buffer: GPUBuffer): void {
    const entry = this.#sizes.get(buffer)
    if (!entry) return
    buffer.destroy()
    this.#sizes.delete(buffer)
    this.#kinds.set(entry.kind, (this.#kinds.get(entry.kind) ?? 0) - entry.bytes)
    this.counts.live_bytes -= entry.bytes
  }

  reserveReads(bytes: number, count: number): void {
    for (let i = 0; i < count; i++) this.#staging.push(this.#createStaging(bytes))
  }

  /** The smallest idle staging buffer that fits, else a new one: after warm-up reads create nothing. */
  #takeStaging(bytes: number): GPUBuffer {
    const fitting = this.#staging.filter((b) => b.size >= bytes).sort((a, b) => a.size - b.size)[0]
    if (fitting) {
      this.#staging.splice(this.#staging.indexOf(fitting), 1)
      return fitting
    }
    return this.#createStaging(bytes)
  }

  #createStaging(bytes: number): GPUBuffer {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST
    return this.#createBuffer('staging', bytes, usage, 'scratch')
  }

  #compile(
    kernel: AnyKernel,
  ): Promise<{ pipeline: GPUComputePipeline; layout: GPUBindGroupLayout }> {
    const known = this.#pipelines.get(kernel.name)
    if (known) return known
    const made = this.#compileNew(kernel)
    this.#pipelines.set(kernel.name, made)
    made.catch(() => this.#pipelines.delete(kernel.name))
    return made
  }

  async #compileNew(kernel: AnyKernel) {
    const { name, wgsl } = kernel
    const code = wgsl.includes('\r') ? wgsl.replaceAll('\r', '') : wgsl
    this.#device.pushErrorScope('validation')
    const module = this.#device.createShaderModule({ label: name, code })
    const refused = this.#device.popErrorScope()
    const { messages } = await module.getCompilationInfo()
    const errors = messages
      .filter((m) => m.type === 'error')
      .map((m) => `  ${name}.wgsl:${m.lineNum}:${m.linePos} ${m.message}`)
    if (errors.length || (await refused))
      throw new GpuError(
        'shader',
        `${name}: does not compile\n${errors.join('\n') || (await refused)?.message}`,
      )
    const layout = this.#device.createBindGroupLayout({
      label: name,
      entries: [
        { type: 'uniform' as const, hasDynamicOffset: true },
        ...Object.values(kernel.bindings).map((access) => ({
          type: access === 'read' ? ('read-only-storage' as const) : ('storage' as const),
        })),
      ].map((buffer, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer })),
    })
    try {
      const pipeline = await this.#device.createComputePipelineAsync({
        label: name,
        layout: this.#device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main', constants: kernel.constants ?? {} },
      })
      this.counts.pipelines++
      return { pipeline, layout }
    } catch (error) {
      throw new GpuError('shader', `${name}: ${error instanceof Error ? error.message : error}`)
    }
  }

  #bind(
    where: string,
    kernel: AnyKernel,
    layout: GPUBindGroupLayout,
    tensors: Names<Tensor>,
  ): GPUBindGroup {
    const storage = Object.keys(kernel.bindings).map((name) => {
      const tensor = tensors[name]
      if (!tensor) throw new ShapeError(`${where}: tensor ${name} is missing`)
      if (tensor.offset % 64 !== 0)
        throw new ShapeError(
          `${where}: ${tensor.label} starts at element ${tensor.offset}, expected a multiple of 64`,
        )
      const size = Math.max(4, sizeOf(tensor.shape) * 4)
      return { buffer: tensor.buffer, offset: tensor.offset * 4, size }
    })
    this.counts.bind_groups++
    return this.#device.createBindGroup({
      label: where,
      layout,
      entries: [{ buffer: this.#arena, size: SLOT_BYTES }, ...storage].map((resource, binding) => ({
        binding,
        resource,
      })),
    })
  }
}

function setScalar(view: DataView, offset: number, dtype: DType, value: number): void {
  if (dtype === 'f32') view.setFloat32(offset, value, true)
  else view.setUint32(offset, value, true)
}

const resolve = (value: Value<string>, live: LiveValues<string>): number =>
  typeof value === 'function' ? value(live) : value
