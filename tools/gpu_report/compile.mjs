// Compiles the kernels of a JSON file, one after another, on the present adapter. What the driver
// says of each goes to standard error behind a line with its name. Arguments: the file, and what
// Dawn is told.
import { readFileSync, writeSync } from 'node:fs'
import { create, globals } from 'webgpu'

const [, , file, ...toggles] = process.argv
Object.assign(globalThis, globals)
const MATRICES = 'chromium-experimental-subgroup-matrix'
const experiments = 'enable-dawn-features=allow_unsafe_apis'
const adapter = await create([experiments, ...toggles]).requestAdapter()
const asked = ['shader-f16', 'subgroups', 'subgroup-size-control', MATRICES]
const offered = asked.filter((feature) => adapter.features.has(feature))
const device = await adapter.requestDevice({ requiredFeatures: offered })
// As src/kernels/device/features.ts names them; every GPU's blocks of one type have one size here.
for (const { componentType, resultComponentType } of adapter.info.subgroupMatrixConfigs ?? [])
  if (resultComponentType === 'f32') offered.push(`subgroup-matrix-${componentType}`)
for (const { name, wgsl, constants, requires, bindings } of JSON.parse(
  readFileSync(file, 'utf8'),
)) {
  if (requires.some((feature) => !offered.includes(feature))) continue
  const buffers = [
    { type: 'uniform', hasDynamicOffset: true },
    ...bindings.map((access) => ({ type: access === 'read' ? 'read-only-storage' : 'storage' })),
  ]
  const entries = buffers.map((buffer, binding) => ({
    binding,
    visibility: GPUShaderStage.COMPUTE,
    buffer,
  }))
  const layout = device.createPipelineLayout({
    bindGroupLayouts: [device.createBindGroupLayout({ entries })],
  })
  writeSync(2, `\n@@kernel ${name}\n`)
  const module = device.createShaderModule({ code: wgsl })
  device.createComputePipeline({ layout, compute: { module, constants } })
}
// The device has no hardware to wait for.
process.exit(0)
