// Compiles kernels to pipelines, and binds them to the tensors of a dispatch.
import { GpuError, ShapeError } from './base/errors.ts'
import { type AnyKernel, accessOf, inSubgroupsOf, type Names, wholeText } from './base/kernel.ts'
import { type Dispatch, SLOT_BYTES } from './base/program.ts'
import { BINDING_ALIGNMENT, bufferBytes, elementBytes, type Tensor } from './base/tensor.ts'
import type { Compiled, OpenDevice } from './open_device.ts'
import { bindGroup } from './places.ts'
import { splitKernel } from './timing/split.ts'

export class Pipelines {
  readonly #open: OpenDevice
  /** Holds the params of parts. */
  readonly #arena: GPUBuffer
  /** Called after every kernel that is compiled. */
  watch: (() => void) | undefined

  constructor(open: OpenDevice, arena: GPUBuffer) {
    this.#open = open
    this.#arena = arena
  }

  /** Compiles a kernel, once for each name; one that runs in parts takes the place of its params as
   * an offset. Throws GpuError shader. */
  compile(kernel: AnyKernel, isPart = false): Promise<Compiled> {
    const { compiled } = this.#open
    const known = compiled.get(kernel.name)
    if (known) return known
    const made = this.#compileNew(kernel, isPart)
    compiled.set(kernel.name, made)
    made.catch(() => compiled.delete(kernel.name))
    return made
  }

  /** Compiles a dispatch's kernel and finds what its tensors bind. Throws GpuError shader or
   * ShapeError. */
  async prepare(label: string, dispatch: Dispatch): Promise<void> {
    const { kernel, tensors } = dispatch
    const storage = storageOf(`${label}/${kernel.name}`, kernel, tensors)
    Object.assign(dispatch, { storage, ...(await this.compile(kernel)) })
  }

  /** Makes what runs a dispatch in `timing.parts` parts, where its kernel can be split. */
  async cut(dispatch: Dispatch): Promise<void> {
    const { kernel, storage, timing } = dispatch
    const part = splitKernel(kernel)
    if (!part || !timing) return
    const { pipeline, layout } = await this.compile(part, true)
    const params = { buffer: this.#arena, size: SLOT_BYTES }
    const group = bindGroup(this.#open, { label: part.name, layout, params, storage })
    dispatch.cut = { pipeline, group, parts: timing.parts }
  }

  async #compileNew(kernel: AnyKernel, isPart: boolean): Promise<Compiled> {
    const { device, counts, lanes } = this.#open
    const { name } = kernel
    const layout = device.createBindGroupLayout({
      label: name,
      entries: [
        { type: 'uniform' as const, hasDynamicOffset: isPart },
        ...Object.values(kernel.bindings).map((binding) => ({
          type:
            accessOf(binding) === 'read' ? ('read-only-storage' as const) : ('storage' as const),
        })),
      ].map((buffer, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer })),
    })
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] })
    const compile = (lanes?: number) => compiled(this.#open, kernel, pipelineLayout, lanes)
    // Where a size is refused after all, the kernel takes the subgroups that it gets.
    const pipeline = await (kernel.manyRegisters && lanes !== undefined
      ? compile(lanes).catch(() => compile())
      : compile())
    counts.pipelines++
    counts.wgsl_bytes += wholeText(kernel).length
    this.watch?.()
    return { pipeline, layout }
  }
}

/** What the tensors of a dispatch bind. Throws ShapeError for one that is missing or begins where
 * WebGPU binds nothing. */
function storageOf(where: string, kernel: AnyKernel, tensors: Names<Tensor>): GPUBufferBinding[] {
  return Object.keys(kernel.bindings).map((name) => {
    const tensor = tensors[name]
    if (!tensor) throw new ShapeError(`${where}: tensor ${name} is missing`)
    const aligned = BINDING_ALIGNMENT / elementBytes(tensor.dtype)
    if (tensor.offset % aligned !== 0)
      throw new ShapeError(
        `${where}: ${tensor.label} starts at element ${tensor.offset}, expected a multiple of ${aligned}`,
      )
    const offset = tensor.offset * elementBytes(tensor.dtype)
    return { buffer: tensor.buffer, offset, size: bufferBytes(tensor) }
  })
}

/** A kernel's pipeline, in subgroups of so many lanes where a number is given. Throws GpuError
 * shader. */
async function compiled(
  open: OpenDevice,
  kernel: AnyKernel,
  layout: GPUPipelineLayout,
  lanes: number | undefined,
): Promise<GPUComputePipeline> {
  const { name, constants = {} } = kernel
  const module = await compileShader(open, kernel, lanes)
  try {
    return await open.device.createComputePipelineAsync({
      label: name,
      layout,
      compute: { module, entryPoint: 'main', constants },
    })
  } catch (error) {
    throw new GpuError('shader', `${name}: ${error instanceof Error ? error.message : error}`)
  }
}

/** Throws GpuError shader with every message of the compiler, or with the features that the device
 * lacks. */
async function compileShader(
  { device, features }: OpenDevice,
  kernel: AnyKernel,
  lanes: number | undefined,
): Promise<GPUShaderModule> {
  const { name, requires = [] } = kernel
  const missing = requires.filter((feature) => !features.includes(feature))
  if (missing.length)
    throw new GpuError('shader', `${name}: needs ${missing.join(' and ')}, which this device lacks`)
  const text = wholeText(kernel).replaceAll('\r', '')
  const code = lanes === undefined ? text : inSubgroupsOf(lanes, text)
  device.pushErrorScope('validation')
  const module = device.createShaderModule({ label: name, code })
  const refused = device.popErrorScope()
  const { messages } = await module.getCompilationInfo()
  const errors = messages
    .filter((m) => m.type === 'error')
    .map((m) => `  ${name}.wgsl:${m.lineNum}:${m.linePos} ${m.message}`)
  if (errors.length || (await refused))
    throw new GpuError(
      'shader',
      `${name}: does not compile\n${errors.join('\n') || (await refused)?.message}`,
    )
  return module
}
