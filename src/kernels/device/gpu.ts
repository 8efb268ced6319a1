// The only file that touches GPUDevice. Everything above it sees Gpu, Tensor, Kernel and Program.
import { DispatchLimit, type DispatchLimits } from './dispatch_limit.ts'
import { GpuError, ShapeError } from './errors.ts'
import type { Access, AnyKernel, Feature, Kernel, Names, Shader } from './kernel.ts'
import { costOf, type Profile, QUERIES, Recording, type Stamps } from './profiler.ts'
import {
  type Cut,
  collect,
  type Dispatch,
  type Grid,
  gridOf,
  type LiveValues,
  type Program,
  type Recorder,
  readParams,
  SLOT_BYTES,
  setScalar,
  valueAt,
} from './program.ts'
import { parts, setPart, splitKernel } from './split.ts'
import { STAMPS, StageClock, type StageTimes } from './stage_clock.ts'
import {
  type Allocator,
  bufferBytes,
  type DType,
  type MemoryKind,
  noBytes,
  sizeOf,
  type Tensor,
  type TensorOptions,
  viewOf,
} from './tensor.ts'

/** Running totals since the device was opened: what tests assert and the memory panel shows. */
export interface GpuCounts {
  buffers: number
  bind_groups: number
  pipelines: number
  /** Kernel calls; one that runs in parts counts once. */
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
  /** Whether kernels that require 'subgroups' compile here. */
  readonly has_subgroups: boolean
  /** Whether kernels that require 'shader-f16' compile here. */
  readonly has_f16: boolean
  readonly max_buffer_bytes: number
  readonly max_binding_bytes: number
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** A tensor beyond the adapter's limits: which, how large, how large it may be, what to do. */
export function tooLarge(label: string, bytes: number, allowed: number): GpuError {
  return new GpuError(
    'too_large',
    `${label} needs ${inMegabytes(bytes)}; this adapter binds at most ${inMegabytes(allowed)}. Choose a smaller batch or a smaller model.`,
  )
}

/** A buffer that the GPU has no memory for: which, how large, beside what, what to do. */
const noRoom = (label: string, bytes: number, held: number): GpuError =>
  new GpuError(
    'out_of_memory',
    `${label} needs ${inMegabytes(bytes)}, and the GPU has no room for it beside the ${inMegabytes(held)} that the run holds already. Choose a smaller batch or a smaller model.`,
  )

export interface OpenOptions {
  /** Where WebGPU comes from; the browser's own by default, Dawn in Node. */
  readonly gpu?: GPU
  /** Largest tensor of the run (`MemoryPlan.largest`): limits above WebGPU's defaults are asked for only if it needs them. */
  readonly largest?: { readonly label: string; readonly bytes: number }
  /** False leaves the GPU's clock alone even where there is one. */
  readonly timestamps?: boolean
  /** False leaves subgroups and shader-f16 alone even where the adapter has them. */
  readonly features?: boolean
}

/** Dispatches per submit at most; a longer list of commands is split into several submits. */
const ARENA_SLOTS = 4096
/** A fortieth of what the shortest watchdog allows (Windows: 2 s), as other programs and a hotter GPU take their part. */
const MOST_DISPATCH_MS = 50
const DEFAULT_BINDING_BYTES = 134217728
const DEFAULT_BUFFER_BYTES = 268435456
const FEATURES: readonly Feature[] = ['subgroups', 'shader-f16']
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
  /** Params of the dispatches in the open submit, uploaded once when it is submitted. */
  #staged = new Uint8Array(ARENA_SLOTS * SLOT_BYTES)
  #staged_view = new DataView(this.#staged.buffer)
  #used = 0
  #encoder: GPUCommandEncoder | undefined
  #pass: GPUComputePassEncoder | undefined
  #failure: GpuError | undefined
  /** Set while a profile is taken. */
  #recording: Recording | undefined
  #limit: DispatchLimit | undefined
  /** Times the stages of every step, where the adapter can. */
  #clock: StageClock | undefined
  /** Milliseconds that the open submit is expected to take, where dispatches are limited. */
  #queued_ms = 0
  /** Submits when the limit last timed one. */
  #timed_submits = -1

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
    const wanted: GPUFeatureName[] = [
      ...(options.timestamps === false ? [] : (['timestamp-query'] as const)),
      ...(options.features === false ? [] : FEATURES),
    ]
    const device = await adapter.requestDevice({
      requiredFeatures: wanted.filter((feature) => adapter.features.has(feature)),
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
      has_subgroups: device.features.has('subgroups'),
      has_f16: device.features.has('shader-f16'),
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

  /** Frees every tensor and what was recorded with them; compiled kernels stay. Nothing may be on its way back. */
  freeAll(): void {
    this.submit()
    this.#staging = []
    this.#limit?.forget()
    for (const buffer of [...this.#sizes.keys()])
      if (buffer !== this.#arena) this.#destroyBuffer(buffer)
  }

  /** Compiles kernels ahead of time, so a broken shader is an error here and not a silent no-op later. */
  async prepare(...kernels: readonly Shader[]): Promise<void> {
    await Promise.all(kernels.map((kernel) => this.#compile(kernel as AnyKernel)))
  }

  /**
   * Records a program: compiles what is new and makes every bind group, once. `build` runs synchronously.
   * Throws ShapeError for a missing tensor or a misaligned view, GpuError for a shader that does not compile or that
   * requires what the device has not.
   */
  async record<const L extends string = never>(
    label: string,
    live: readonly L[],
    build: (recorder: Recorder<L>) => void,
  ): Promise<Program<L>> {
    const commands = collect(label, build)
    const dispatches = commands.filter((command) => command.kind === 'dispatch')
    await Promise.all(dispatches.map((dispatch) => this.#bind(label, dispatch)))
    return { label, live, commands, dispatches: dispatches.length }
  }

  /** Encodes a recorded program with these live values. Nothing runs until `submit` or `read`. */
  replay<L extends string>(
    program: Program<L>,
    ...[live]: [L] extends [never] ? [] : [live: LiveValues<L>]
  ): void {
    const values: LiveValues<string> = live ?? {}
    this.counts.dispatches += program.dispatches
    for (const command of program.commands) {
      if (command.kind === 'dispatch') this.#dispatch(command, values)
      else if (command.kind === 'copy')
        this.copy(command.from, command.to, {
          from_offset: valueAt(command.from_offset, values),
          to_offset: valueAt(command.to_offset, values),
          count: command.count,
        })
      else this.clear(command.tensor, command.count)
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

  /** Encodes zeroing the first `count` elements (default: all). */
  clear(tensor: Tensor, count = sizeOf(tensor.shape)): void {
    this.#openEncoder().clearBuffer(tensor.buffer, tensor.offset * 4, count * 4)
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
    this.#endStage()
    this.#pass?.end()
    this.#pass = undefined
    if (this.#used > 0) this.#device.queue.writeBuffer(this.#arena, 0, this.#staged, 0, this.#used)
    this.counts.uploaded_bytes += this.#used
    this.#device.queue.submit([this.#encoder.finish()])
    this.counts.submits++
    if (this.#recording?.has_timestamps === false)
      this.#recording.submitted(this.#device.queue.onSubmittedWorkDone())
    this.#encoder = undefined
    this.#used = 0
    this.#queued_ms = 0
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
    const mapped = staging.getMappedRange(0, total)
    let start = 0
    const arrays = tensors.map((t, i) => {
      const part = mapped.slice(start, start + sizes[i])
      start += sizes[i]
      return t.dtype === 'f32' ? new Float32Array(part) : new Uint32Array(part)
    })
    staging.unmap()
    this.#staging.push(staging)
    if (this.#failure) throw this.#failure
    return arrays as never
  }

  /** Resolves when the GPU has finished everything submitted. For benchmarks. */
  async finish(): Promise<void> {
    this.submit()
    await this.#device.queue.onSubmittedWorkDone()
    if (this.#failure) throw this.#failure
  }

  /**
   * Measures what `work` encodes and submits, without changing any result. Every run of one kernel becomes a pass of its
   * own between two timestamps; where the adapter has none, stages become submits of their own. One at a time.
   */
  async profile<T>(
    work: () => T | Promise<T>,
  ): Promise<{ readonly result: T; readonly profile: Profile }> {
    if (this.#recording) throw new Error('gpu: a profile is being taken already')
    this.submit()
    const recording = new Recording(this.#createQueries)
    this.#recording = recording
    try {
      const result = await work()
      await this.finish()
      return { result, profile: recording.finish(await this.#readStamps(recording.queries)) }
    } finally {
      this.#recording = undefined
      recording.destroy()
    }
  }

  /** Names the part of a training step that begins here, for a profile that is taken and for `timeStages`. */
  stage(name: string): void {
    this.#endStage()
    this.#clock?.enter(name)
    if (!this.#recording) return
    if (!this.#recording.has_timestamps) this.submit()
    this.#recording.enter(name)
  }

  /** From now on every stage is timed, where the adapter has timestamps: two empty passes for each. */
  timeStages(): void {
    if (!this.#device.features.has('timestamp-query') || this.#clock) return
    // Not counted: measuring should not show in what is measured.
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC
    this.#clock = new StageClock(
      this.#device.createQuerySet({ label: 'stages', type: 'timestamp', count: STAMPS }),
      this.#device.createBuffer({ label: 'stages', size: STAMPS * 8, usage }),
    )
  }

  /**
   * Ends the current stage and encodes the times of all since the last call: `stamps` to be read back next, and what its
   * values mean. Undefined where stages are not timed.
   */
  resolveStages():
    | { readonly stamps: Tensor<'u32'>; timesOf(stamps: Uint32Array): StageTimes }
    | undefined {
    const clock = this.#clock
    if (!clock) return undefined
    return { stamps: clock.stamps, timesOf: clock.resolve(this.#openEncoder()) }
  }

  /**
   * From now on the first runs of every recorded dispatch are measured, for `settleDispatches` to cut those that take longer
   * than `most_ms`, and submits end before they are expected to take twice as long. No result changes by a bit. For adapters
   * with a watchdog; software ones have none, and gain nothing. Does nothing when dispatches are limited already.
   */
  limitDispatches({ most_ms = MOST_DISPATCH_MS }: { most_ms?: number } = {}): void {
    this.#limit ??= new DispatchLimit(most_ms, this.#createQueries)
  }

  /**
   * Waits for what was measured since the last call and compiles and binds the parts of what took too long. Undefined, and no
   * wait, when there is nothing new: a run that has done everything a few times creates nothing more. One call at a time.
   */
  async settleDispatches(): Promise<DispatchLimits | undefined> {
    const limit = this.#limit
    if (!limit?.is_pending) return undefined
    this.submit()
    const round = limit.take()
    try {
      const stamps = await this.#readStamps(round?.stamps?.queries ?? [])
      await Promise.all(round?.done ?? [])
      const long = limit.learn(round, stamps)
      await Promise.all(long.map((dispatch) => this.#cut(dispatch)))
    } finally {
      round?.stamps?.destroy()
    }
    return limit.limits
  }

  /** Makes sets of timestamps, where the adapter has them. */
  get #createQueries(): (() => GPUQuerySet) | undefined {
    const device = this.#device
    if (!device.features.has('timestamp-query')) return undefined
    return () => device.createQuerySet({ label: 'profile', type: 'timestamp', count: QUERIES })
  }

  /** The timestamps of all pairs in order. Its buffers are not counted: measuring should not show in what is measured. */
  async #readStamps(queries: Stamps<unknown>['queries']): Promise<BigUint64Array> {
    if (queries.length === 0) return new BigUint64Array()
    const buffer = (usage: number) =>
      this.#device.createBuffer({ label: 'profile', size: queries.length * QUERIES * 8, usage })
    const resolved = buffer(GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC)
    const staging = buffer(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)
    const encoder = this.#device.createCommandEncoder()
    queries.forEach(({ set, count }, i) => {
      encoder.resolveQuerySet(set, 0, count, resolved, i * QUERIES * 8)
    })
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, staging.size)
    this.#device.queue.submit([encoder.finish()])
    try {
      await staging.mapAsync(GPUMapMode.READ)
      const count = queries.reduce((sum, set) => sum + set.count, 0)
      return new BigUint64Array(staging.getMappedRange().slice(0)).subarray(0, count)
    } catch (error) {
      throw this.#failure ?? new GpuError('lost', `Reading back timestamps: ${error}`)
    } finally {
      resolved.destroy()
      staging.destroy()
    }
  }

  /** Frees the device and all its memory. */
  destroy(): void {
    this.#device.destroy()
    this.#sizes.clear()
    this.#kinds.clear()
    this.counts.live_bytes = 0
  }

  #dispatch(dispatch: Dispatch, live: LiveValues<string>): void {
    const { kernel, cut } = dispatch
    const limit = this.#limit
    const timing = limit?.timingOf(dispatch)
    const expected_ms = timing && limit ? limit.expected(timing) : 0
    if (cut) return this.#dispatchParts(dispatch, cut, live, expected_ms)
    if (limit && timing && !this.#recording && limit.wants(timing))
      return this.#measure(limit, dispatch, live)
    const slot = this.#takeSlot(dispatch, live, expected_ms)
    const pass = this.#recording ? this.#timedPass(this.#recording, kernel, slot) : this.#openPass()
    encode(pass, dispatch, slot, gridOf(dispatch, this.#staged_view, slot))
  }

  /** A slot of the arena with a dispatch's params, in a new submit where the open one has no room for it. */
  #takeSlot({ params, patches }: Dispatch, live: LiveValues<string>, expected_ms: number): number {
    const is_full = this.#used === this.#staged.byteLength
    const is_long = this.#limit && this.#queued_ms + expected_ms > this.#limit.most_submit_ms
    if (is_full || (is_long && this.#used > 0)) this.submit()
    this.#queued_ms += expected_ms
    const slot = this.#used
    this.#used += SLOT_BYTES
    this.#staged.set(params, slot)
    for (const { offset, dtype, value } of patches)
      setScalar(this.#staged_view, slot + offset, dtype, value(live))
    if (this.#clock?.is_due && !this.#recording) this.#clock.begin(this.#openEncoder())
    return slot
  }

  #dispatchParts(
    dispatch: Dispatch,
    cut: Cut,
    live: LiveValues<string>,
    expected_ms: number,
  ): void {
    const part_ms = expected_ms / cut.parts
    const view = this.#staged_view
    let slot = this.#takeSlot(dispatch, live, part_ms)
    const whole = gridOf(dispatch, view, slot)
    parts(whole, cut.parts).forEach((part, i) => {
      if (i > 0) slot = this.#takeSlot(dispatch, live, part_ms)
      setPart(view, slot + dispatch.params.byteLength, part, whole)
      const recording = this.#recording
      const pass = recording
        ? this.#timedPass(recording, dispatch.kernel, slot, i === 0)
        : this.#openPass()
      encode(pass, cut, slot, part.grid)
    })
  }

  /** One dispatch between two timestamps, or, without a clock, in a submit of its own. */
  #measure(limit: DispatchLimit, dispatch: Dispatch, live: LiveValues<string>): void {
    const timing = limit.timingOf(dispatch)
    const done = () => this.#device.queue.onSubmittedWorkDone()
    if (!limit.has_timestamps) {
      this.submit()
      if (this.counts.submits !== this.#timed_submits) limit.sent(undefined, 1, done())
    }
    const slot = this.#takeSlot(dispatch, live, limit.expected(timing))
    const timestampWrites = limit.begin(timing)
    this.#pass = this.#openEncoder().beginComputePass(timestampWrites && { timestampWrites })
    encode(this.#pass, dispatch, slot, gridOf(dispatch, this.#staged_view, slot))
    this.#openEncoder() // ends the pass
    if (limit.has_timestamps) return
    const cost = costOf(
      dispatch.kernel,
      readParams(dispatch.kernel.params, this.#staged_view, slot),
    )
    this.submit()
    limit.sent(timing, 1 + (cost?.flops ?? 0) + (cost?.bytes ?? 0), done())
    this.#timed_submits = this.counts.submits
  }

  #endStage(): void {
    if (this.#clock?.is_open) this.#clock.end(this.#openEncoder())
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

  /**
   * A new pass for every run of one kernel, as timestamps are taken at the ends of passes. Further parts of a dispatch are no
   * calls of their own.
   */
  #timedPass(
    recording: Recording,
    kernel: AnyKernel,
    slot: number,
    is_call = true,
  ): GPUComputePassEncoder {
    const is_new = is_call && recording.count(kernel, this.#staged_view, slot)
    if (!recording.has_timestamps) return this.#openPass()
    if (is_new || !this.#pass) {
      const timestampWrites = recording.stamps()
      this.#pass = this.#openEncoder().beginComputePass(timestampWrites && { timestampWrites })
    }
    return this.#pass
  }

  #createBuffer(label: string, bytes: number, usage: number, kind: MemoryKind): GPUBuffer {
    if (this.#failure) throw this.#failure
    this.#device.pushErrorScope('out-of-memory')
    const buffer = this.#device.createBuffer({ label, size: bytes, usage })
    const held = this.counts.live_bytes
    this.#device.popErrorScope().then(
      (error) => {
        if (error) this.#failure ??= noRoom(label, bytes, held)
      },
      () => {}, // a lost device is reported elsewhere
    )
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
    const { name, wgsl, requires = [] } = kernel
    const missing = requires.filter((feature) => !this.#device.features.has(feature))
    if (missing.length)
      throw new GpuError(
        'shader',
        `${name}: needs ${missing.join(' and ')}, which this device has not`,
      )
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

  /** Compiles a dispatch's kernel and makes its bind group. */
  async #bind(label: string, dispatch: Dispatch): Promise<void> {
    Object.assign(dispatch, await this.#bound(label, dispatch.kernel, dispatch.tensors))
  }

  /** Makes what runs a dispatch in `timing.parts` parts, where its kernel can be split. */
  async #cut(dispatch: Dispatch): Promise<void> {
    const { kernel, tensors, timing } = dispatch
    const part = splitKernel(kernel)
    if (!part || !timing) return
    dispatch.cut = { ...(await this.#bound('parts', part, tensors)), parts: timing.parts }
  }

  async #bound(
    label: string,
    kernel: AnyKernel,
    tensors: Names<Tensor>,
  ): Promise<{ pipeline: GPUComputePipeline; group: GPUBindGroup }> {
    const where = `${label}/${kernel.name}`
    const storage = Object.keys(kernel.bindings).map((name) => {
      const tensor = tensors[name]
      if (!tensor) throw new ShapeError(`${where}: tensor ${name} is missing`)
      if (tensor.offset % 64 !== 0)
        throw new ShapeError(
          `${where}: ${tensor.label} starts at element ${tensor.offset}, expected a multiple of 64`,
        )
      return { buffer: tensor.buffer, offset: tensor.offset * 4, size: bufferBytes(tensor.shape) }
    })
    const { pipeline, layout } = await this.#compile(kernel)
    const resources = [{ buffer: this.#arena, size: SLOT_BYTES }, ...storage]
    const group = this.#device.createBindGroup({
      label: where,
      layout,
      entries: resources.map((resource, binding) => ({ binding, resource })),
    })
    this.counts.bind_groups++
    return { pipeline, group }
  }
}

/** One dispatch of a bound kernel, with the params at byte `slot` of the arena. */
function encode(
  pass: GPUComputePassEncoder,
  { pipeline, group }: Pick<Dispatch, 'pipeline' | 'group'>,
  slot: number,
  grid: Grid,
): void {
  pass.setPipeline(pipeline)
  pass.setBindGroup(0, group, [slot])
  pass.dispatchWorkgroups(...grid)
}
