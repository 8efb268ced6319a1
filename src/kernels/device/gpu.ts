// Offers the GPU as everything above this folder sees it: tensors, recorded programs, readbacks and
// measurements.
import { type AdapterFacts, type OpenOptions, openAdapter } from './adapter.ts'
import { layOut, type Program } from './base/dispatch_table.ts'
import { type GpuError, ShapeError, tooLarge } from './base/errors.ts'
import type { AnyKernel, Binding, Kernel, Names, ParamType, Shader } from './base/kernel.ts'
import { collect, type LiveValues, type Recorder, suitedToGpu, valueAt } from './base/program.ts'
import {
  type Allocator,
  bufferBytes,
  type DType,
  elementBytes,
  type MemoryKind,
  SEGMENT_BYTES,
  sizeOf,
  type Tensor,
  type TensorOptions,
  viewOf,
  wordBytes,
} from './base/tensor.ts'
import { Buffers } from './buffers.ts'
import { Commands } from './commands.ts'
import { Dispatcher } from './dispatcher.ts'
import { joinCommands } from './joined/join_commands.ts'
import { type GpuCounts, OpenDevice } from './open_device.ts'
import { Pipelines } from './pipelines.ts'
import { createPlace } from './places.ts'
import { createStageClock, learnRound, queryMaker } from './queries.ts'
import { takeProfile } from './take_profile.ts'
import { DispatchLimit, type DispatchLimits, type LimitOptions } from './timing/dispatch_limit.ts'
import type { Profile } from './timing/profiler.ts'
import type { StageTimes } from './timing/stage_clock.ts'
import { bytesOf, copyTo, type ReadArrays, takeArrays, wordsFor } from './transfer.ts'

export class Gpu implements Allocator {
  readonly facts: AdapterFacts
  readonly segmentBytes: number
  readonly counts: GpuCounts
  /** Resolves with the reason when the device is lost; never after `destroy`. */
  readonly lost: Promise<GpuError>
  readonly #open: OpenDevice
  readonly #options: OpenOptions
  readonly #buffers: Buffers
  readonly #commands: Commands
  readonly #dispatcher: Dispatcher
  readonly #pipelines: Pipelines

  private constructor(open: OpenDevice, facts: AdapterFacts, options: OpenOptions) {
    this.facts = facts
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES
    this.#options = options
    this.#open = open
    this.counts = open.counts
    this.lost = open.lost
    this.#buffers = new Buffers(open)
    this.#commands = new Commands(open, this.#buffers)
    this.#dispatcher = new Dispatcher(open, this.#commands)
    this.#pipelines = new Pipelines(open, this.#commands.arena)
  }

  /** Opens the adapter. Asks for WebGPU's default limits unless `largest` needs more.
   * Throws GpuError with code insecure_origin, no_webgpu, no_adapter or too_large. */
  static async open(options: OpenOptions = {}): Promise<Gpu> {
    const { device, features, lanes, facts } = await openAdapter(options)
    const { joins = !facts.is_software } = options
    return new Gpu(new OpenDevice(device, features, lanes), facts, { ...options, joins })
  }

  /** The same device for another run, with tensors and measurements of its own. Compiled kernels,
   * errors and `destroy` are of all. */
  beside(): Gpu {
    return new Gpu(this.#open, this.facts, this.#options)
  }

  /** Frees all that was made here; the device stays for those beside. */
  leave(): void {
    this.freeAll()
    this.#buffers.destroyAllBut()
  }

  /** Live bytes by kind. */
  memory(): Record<MemoryKind, number> {
    return this.#buffers.memory()
  }

  /** A new zeroed tensor, or one holding `data`. Throws GpuError too_large beyond the adapter's
   * limits. */
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
    const bytes = bufferBytes({ dtype, shape })
    if (bytes > max_binding_bytes) throw tooLarge(`${label} [${shape}]`, bytes, max_binding_bytes)
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
    const buffer = this.#buffers.create(label, bytes, usage, kind)
    const tensor = { label, dtype, shape, buffer, offset: 0 }
    if (data) this.write(tensor, data)
    return tensor
  }

  /** A part of a tensor, of the same dtype. To be bound by a kernel its offset must be a multiple
   * of 256 bytes (WebGPU's alignment: 64 elements of 4 bytes); copies, reads and writes take any
   * whole word. */
  view<D extends DType>(
    tensor: Tensor<D>,
    label: string,
    offset: number,
    shape: readonly number[],
  ): Tensor<D> {
    return viewOf(tensor, label, offset, shape)
  }

  /** Uploads `data` from element `offset` on. Work recorded earlier is submitted first, so it sees
   * the old values. */
  write(tensor: Tensor, data: Float32Array | Uint32Array | Uint16Array, offset = 0): void {
    const { at, words } = wordsFor(tensor, data, offset)
    this.submit()
    this.counts.uploaded_bytes += words.byteLength
    const { buffer, byteOffset, byteLength } = words
    const { queue } = this.#open.device
    queue.writeBuffer(tensor.buffer, at, buffer as ArrayBuffer, byteOffset, byteLength)
  }

  /** Frees tensors (whole ones, not views). Work already submitted still finishes. */
  free(...tensors: readonly Tensor[]): void {
    for (const { buffer } of tensors) this.#buffers.destroy(buffer)
  }

  /** Frees every tensor and what was recorded with them; compiled kernels stay. Nothing may be on
   * its way back. */
  freeAll(): void {
    this.submit()
    this.#dispatcher.limit?.forget()
    this.#buffers.destroyAllBut(this.#commands.arena)
  }

  /** Compiles kernels ahead of time, so a broken shader is an error here and not a silent no-op
   * later. */
  async prepare(...kernels: readonly Shader[]): Promise<void> {
    await Promise.all(kernels.map((kernel) => this.#pipelines.compile(kernel as AnyKernel)))
  }

  /** `watch` is called after every kernel that is compiled; undefined ends that. */
  set compiling(watch: Pipelines['watch']) {
    this.#pipelines.watch = watch
  }

  /** Records a program: compiles what is new and makes every bind group, once. `build` runs
   * synchronously. Throws ShapeError for a missing tensor or a misaligned view, GpuError for a
   * shader that does not compile or needs a feature that the device lacks. */
  async record<const L extends string = never>(
    label: string,
    live: readonly L[],
    build: (recorder: Recorder<L>) => void,
  ): Promise<Program<L>> {
    const recorded = collect(label, build)
    const all = this.facts.is_software ? recorded : suitedToGpu(recorded)
    const commands = this.#options.joins ? joinCommands(all) : all
    const dispatches = commands.filter((command) => command.kind === 'dispatch')
    await Promise.all(dispatches.map((dispatch) => this.#pipelines.prepare(label, dispatch)))
    const laid = layOut(commands)
    const place = createPlace(this.#open, this.#buffers, label, laid.table)
    return { label, live, ...laid, place, dispatches: dispatches.length }
  }

  /** Encodes a recorded program with these live values. Nothing runs until `submit` or `read`. */
  replay<L extends string>(
    program: Program<L>,
    ...[live]: [L] extends [never] ? [] : [live: LiveValues<L>]
  ): void {
    const values: LiveValues<string> = live ?? {}
    const { table, steps, place, dispatches } = program
    this.counts.dispatches += dispatches
    table.setLive(values)
    this.#dispatcher.fill(table, place)
    for (const step of steps) {
      if (step.kind === 'stretch') this.#dispatcher.encode(table, step, place)
      else if (step.kind === 'copy')
        this.copy(step.from, step.to, {
          fromOffset: valueAt(step.fromOffset, values),
          toOffset: valueAt(step.toOffset, values),
          count: step.count,
        })
      else this.clear(step.tensor, step.count)
    }
    this.#dispatcher.keep(place)
  }

  /** Encodes one copy of `count` elements (default: all of the smaller tensor). */
  copy(
    from: Tensor,
    to: Tensor,
    { fromOffset = 0, toOffset = 0, count = Math.min(sizeOf(from.shape), sizeOf(to.shape)) } = {},
  ): void {
    const bytes = elementBytes(from.dtype)
    const [source, target] = [from.offset + fromOffset, to.offset + toOffset]
    const size = wordBytes(from.dtype, count)
    const encoder = this.#commands.encoder()
    encoder.copyBufferToBuffer(from.buffer, source * bytes, to.buffer, target * bytes, size)
  }

  /** Encodes zeroing the first `count` elements (default: all). */
  clear(tensor: Tensor, count = sizeOf(tensor.shape)): void {
    const { dtype, buffer, offset } = tensor
    const at = offset * elementBytes(dtype)
    this.#commands.encoder().clearBuffer(buffer, at, wordBytes(dtype, count))
  }

  /** Records and replays one kernel call: for tests and one-off work, not for a training step. */
  async run<P extends Names<ParamType>, B extends Names<Binding>>(
    kernel: Kernel<P, B>,
    params: { [K in keyof P]: number },
    tensors: { [K in keyof B]: Tensor },
  ): Promise<void> {
    this.replay(await this.record(kernel.name, [], (r) => r.run(kernel, params, tensors)))
  }

  /** Sends everything encoded so far. Throws the first error that WebGPU reported since. */
  submit(): void {
    this.#dispatcher.submit()
  }

  /** Submits, then copies tensors to the CPU in one readback. Resolves when the GPU has got that
   * far. */
  async read<T extends readonly Tensor[]>(...tensors: T): Promise<ReadArrays<T>> {
    const bytes = bytesOf(tensors)
    const staging = this.#buffers.takeStaging(bytes)
    copyTo(staging, this.#commands.encoder(), tensors)
    this.submit()
    this.counts.reads++
    await this.#open.map(staging, bytes, tensors[0]?.label)
    const arrays = takeArrays(staging, tensors)
    this.#buffers.returnStaging(staging)
    this.#open.throwFailure()
    return arrays
  }

  /** Resolves when the GPU has finished everything submitted. For benchmarks. */
  async finish(): Promise<void> {
    this.submit()
    await this.#dispatcher.done()
    await this.#buffers.checked()
    this.#open.throwFailure()
  }

  /** Measures what `work` encodes and submits, without changing any result. Every run of one kernel
   * becomes a pass of its own between two timestamps; where the adapter has none, stages become
   * submits of their own. One at a time. */
  profile<T>(
    work: () => T | Promise<T>,
  ): Promise<{ readonly result: T; readonly profile: Profile }> {
    return takeProfile(this.#open, this.#dispatcher, () => this.finish(), work)
  }

  /** Names the part of a training step that begins here, for a profile that is taken and for
   * `timeStages`. */
  stage(name: string): void {
    this.#dispatcher.enterStage(name)
  }

  /** From now on every stage is timed, where the adapter has timestamps: two empty passes for
   * each. */
  timeStages(): void {
    this.#dispatcher.clock ??= createStageClock(this.#open)
  }

  /** Ends the current stage and encodes the times of all since the last call, to be read back.
   * Undefined where stages are not timed. */
  resolveStages():
    | { readonly stamps: Tensor<'u32'>; timesOf(stamps: Uint32Array): StageTimes }
    | undefined {
    const clock = this.#dispatcher.clock
    if (!clock) return undefined
    return { stamps: clock.stamps, timesOf: clock.resolve(this.#commands.encoder()) }
  }

  /** Measures the first runs of every dispatch from now on, for `settleDispatches` to cut those
   * above `mostMs`, and ends submits before they take twice as long: the same bits, for adapters
   * with a watchdog. A second call does nothing. */
  limitDispatches(options: LimitOptions = {}): void {
    this.#dispatcher.limit ??= new DispatchLimit(options, queryMaker(this.#open))
  }

  /** Waits for what was measured since the last call and compiles and binds the parts of what took
   * too long. Undefined, and no wait, when there is nothing new. One call at a time. */
  async settleDispatches(): Promise<DispatchLimits | undefined> {
    const limit = this.#dispatcher.limit
    if (!limit?.isPending) return undefined
    this.submit()
    const long = await learnRound(this.#open, limit)
    await Promise.all(long.map((dispatch) => this.#pipelines.cut(dispatch)))
    return limit.limits
  }

  reserveReads(bytes: number, count: number): void {
    this.#buffers.reserveStaging(bytes, count)
  }

  /** Frees the device and all its memory. */
  destroy(): void {
    this.#open.device.destroy()
    this.#buffers.forgetAll()
  }
}
