import { expect, test, vi } from 'vitest'
import { softmax_forward } from '../softmax/softmax.ts'
import { expectClose } from '../testing.ts'
import { defineKernel } from './base/kernel.ts'
import { Gpu } from './gpu.ts'

const gpu = await Gpu.open()

const scale = defineKernel({
  name: 'scale',
  wgsl: `
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { x[id.x] *= params.factor; }
}`,
  params: { factor: 'f32', count: 'u32' },
  bindings: { x: 'read_write' },
  workgroups: ({ count }) => [Math.ceil(count / 64)],
})

test('a program replays with other live values and creates nothing', async () => {
  const x = gpu.tensor('x', 'f32', [3], { data: Float32Array.of(1, 2, 3) })
  const program = await gpu.record('scale', ['factor'], (r) => {
    r.run(scale, { factor: (live) => live.factor, count: 3 }, { x })
  })
  gpu.replay(program, { factor: 2 })
  await gpu.read(x)
  const before = { ...gpu.counts }
  gpu.replay(program, { factor: 3 })
  gpu.replay(program, { factor: 0.5 })
  const [values] = await gpu.read(x)
  expect([...values]).toEqual([3, 6, 9])
  const { buffers, bind_groups, pipelines, dispatches, submits } = gpu.counts
  expect([buffers, bind_groups, pipelines]).toEqual([
    before.buffers,
    before.bind_groups,
    before.pipelines,
  ])
  expect([dispatches - before.dispatches, submits - before.submits]).toEqual([2, 1])
})

test('each of many replays in a row has its own params, also where they fill the arena', async () => {
  const x = gpu.tensor('x', 'f32', [1], { data: Float32Array.of(1) })
  const program = await gpu.record('many', ['factor'], (r) => {
    r.run(scale, { factor: (live) => live.factor, count: 1 }, { x })
  })
  // Powers of two, so that no product is rounded; one that is lost or done twice shows.
  const factors = Array.from({ length: 5000 }, (_, i) => 2 ** ((i % 7) - 3))
  const product = factors.reduce((a, b) => a * b)
  for (let round = 1; round <= 2; round++) {
    for (const factor of factors) gpu.replay(program, { factor })
    expect((await gpu.read(x))[0][0]).toBe(product ** round)
  }
})

test('two beside each other have tensors of their own and compile a kernel once', async () => {
  const [one, two] = [gpu.beside(), gpu.beside()]
  const run = async (own: Gpu, factor: number) => {
    const x = own.tensor('x', 'f32', [1], { data: Float32Array.of(2) })
    await own.run(scale, { factor, count: 1 }, { x })
    return x
  }
  await run(gpu, 1)
  const { pipelines, live_bytes } = gpu.counts
  const tensors = [await run(one, 3), await run(two, 5)] as const
  one.leave()
  expect((await two.read(tensors[1]))[0][0]).toBe(10)
  two.leave()
  expect(gpu.counts.pipelines).toBe(pipelines)
  // Less by what the two had for params of one submit.
  expect(gpu.counts.live_bytes).toBeLessThan(live_bytes)
})

test('a grid follows a live count, and one that WebGPU cannot dispatch is refused', async () => {
  const x = gpu.tensor('x', 'f32', [200], { data: new Float32Array(200).fill(1) })
  const program = await gpu.record('scale', ['count'], (r) => {
    r.run(scale, { factor: 2, count: (live) => live.count }, { x })
  })
  gpu.replay(program, { count: 200 })
  gpu.replay(program, { count: 65 })
  const [values] = await gpu.read(x)
  expect([values[0], values[64], values[65], values[199]]).toEqual([4, 4, 2, 2])
  expect(() => gpu.replay(program, { count: 0 })).toThrow(/scale: grid \[0, 1, 1\]/)
  gpu.replay(program, { count: 1 })
  expect((await gpu.read(x))[0][0]).toBe(8)
})

test('copies take live offsets, clears zero a part, and both keep their order among dispatches', async () => {
  const source = gpu.tensor('source', 'f32', [4], { data: Float32Array.of(1, 2, 3, 4) })
  const target = gpu.tensor('target', 'f32', [3], { data: Float32Array.of(9, 9, 9) })
  const program = await gpu.record('copy', ['row'], (r) => {
    r.copy(source, target, { fromOffset: ({ row }) => row * 2, toOffset: 1, count: 2 })
    r.run(scale, { factor: 10, count: 3 }, { x: target })
    r.clear(target, 1)
  })
  gpu.replay(program, { row: 1 })
  expect([...(await gpu.read(target))[0]]).toEqual([0, 30, 40])
})

test('a program longer than one submit is split, each part with its own params', async () => {
  const x = gpu.tensor('x', 'f32', [1], { data: Float32Array.of(1) })
  const count = 5000
  const program = await gpu.record('long', ['factor'], (r) => {
    // Halves and doubles in turn; only the last is live.
    for (let i = 0; i < count; i++) r.run(scale, { factor: i % 2 ? 2 : 0.5, count: 1 }, { x })
    r.run(scale, { factor: (live) => live.factor, count: 1 }, { x })
  })
  const before = gpu.counts.submits
  gpu.replay(program, { factor: 7 })
  expect([...(await gpu.read(x))[0]]).toEqual([7])
  expect(gpu.counts.submits - before).toBe(2)
})

test('a write is ordered after the work recorded before it', async () => {
  const x = gpu.tensor('x', 'f32', [1], { data: Float32Array.of(1) })
  const y = gpu.tensor('y', 'f32', [1])
  const program = await gpu.record('copy', [], (r) => r.copy(x, y))
  gpu.replay(program)
  gpu.write(x, Float32Array.of(2))
  expect([...(await gpu.read(y))[0]]).toEqual([1])
})

test('bytes are counted by kind and given back', () => {
  const before = gpu.memory().kv_cache
  const live = gpu.counts.live_bytes
  const cache = gpu.tensor('cache', 'f32', [2, 8], { kind: 'kv_cache' })
  expect(gpu.memory().kv_cache - before).toBe(64)
  gpu.free(cache)
  expect(gpu.memory().kv_cache).toBe(before)
  expect(gpu.counts.live_bytes).toBe(live)
})

test('a misaligned view, a missing tensor and a tensor above the limit are errors that say so', async () => {
  const x = gpu.tensor('x', 'f32', [128])
  await expect(
    gpu.run(scale, { factor: 1, count: 1 }, { x: gpu.view(x, 'part', 3, [4]) }),
  ).rejects.toThrow(/part starts at element 3, expected a multiple of 64/)
  await expect(gpu.run(scale, { factor: 1, count: 1 }, {} as never)).rejects.toThrow(/x is missing/)
  expect(() => gpu.view(x, 'part', 120, [9])).toThrow(/outside/)
  expect(() => gpu.tensor('huge', 'f32', [2 ** 40])).toThrow(/binds at most/)
})

test('two dispatches of one submit keep their own params', async () => {
  const a = gpu.tensor('a', 'f32', [1, 2])
  const b = gpu.tensor('b', 'f32', [1, 4])
  const [pa, pb] = [gpu.tensor('pa', 'f32', [1, 2]), gpu.tensor('pb', 'f32', [1, 4])]
  await gpu.run(softmax_forward, { rows: 1, cols: 2 }, { logits: a, probs: pa })
  await gpu.run(softmax_forward, { rows: 1, cols: 4 }, { logits: b, probs: pb })
  const [va, vb] = await gpu.read(pa, pb)
  expectClose(va, [0.5, 0.5])
  expectClose(vb, [0.25, 0.25, 0.25, 0.25])
})

/** The sum of its subgroup's lanes, for every lane. */
const subgroup_sum = defineKernel({
  name: 'subgroup_sum',
  requires: ['subgroups'],
  wgsl: `enable subgroups;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(subgroup_size) size: u32) {
  let sum = subgroupAdd(1.0);
  if (lane < params.count) { x[lane] = sum / f32(min(size, 64u)); }
}`,
  params: { count: 'u32' },
  bindings: { x: 'read_write' },
  workgroups: () => [1],
})

const half_twice = defineKernel({
  name: 'half_twice',
  requires: ['shader-f16'],
  wgsl: `enable f16;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane < params.count) { x[lane] = f32(2.0h * f16(x[lane])); }
}`,
  params: { count: 'u32' },
  bindings: { x: 'read_write' },
  workgroups: () => [1],
})

test('the device has what the adapter offers, unless it was opened without', async () => {
  const { features, has_subgroups, has_f16 } = gpu.facts
  expect([has_subgroups, has_f16]).toEqual(
    ['subgroups', 'shader-f16'].map((feature) => features.includes(feature)),
  )
  const x = gpu.tensor('x', 'f32', [2], { data: Float32Array.of(0.25, 3) })
  for (const [has, kernel, expected] of [
    [has_f16, half_twice, [0.5, 6]],
    [has_subgroups, subgroup_sum, [1, 1]],
  ] as const) {
    if (!has) continue
    await gpu.run(kernel, { count: 2 }, { x })
    expect([...(await gpu.read(x))[0]]).toEqual(expected)
  }

  const plain = await Gpu.open({ features: false })
  expect([plain.facts.has_subgroups, plain.facts.has_f16]).toEqual([false, false])
  expect(plain.facts.features).toEqual(features)
  plain.destroy()
})

test('a kernel that requires what the device lacks is refused by name', async () => {
  const plain = await Gpu.open({ features: false })
  await expect(plain.prepare(subgroup_sum)).rejects.toThrow(
    'subgroup_sum: needs subgroups, which this device lacks',
  )
  await expect(plain.prepare(half_twice)).rejects.toMatchObject({ code: 'shader' })
  plain.destroy()
})

test('a broken shader is an error with file, line and column', async () => {
  const broken = {
    ...softmax_forward,
    name: 'broken',
    wgsl: softmax_forward.wgsl.replace('- row_max)', '- row_maxx)'),
  }
  await expect(gpu.prepare(broken)).rejects.toThrow(/broken\.wgsl:\d+:\d+/)
  await expect(gpu.prepare(broken)).rejects.toMatchObject({ code: 'shader' })
})

test('a buffer that the GPU has no room for is named, with its bytes and what lies there already', async () => {
  const adapter = await navigator.gpu.requestAdapter()
  const device = await adapter?.requestDevice()
  if (!adapter || !device) throw new Error('no adapter')
  const create = device.createBuffer.bind(device)
  const pop = device.popErrorScope.bind(device)
  let newest: string | undefined
  device.createBuffer = (described) => {
    newest = described.label
    return create(described)
  }
  // Memory that is really used up would take the other tests along.
  device.popErrorScope = async () => {
    const isRefused = newest === 'adam_m'
    return (await pop()) ?? (isRefused ? ({ message: 'no room' } as GPUError) : null)
  }
  adapter.requestDevice = async () => device
  const full = await Gpu.open({ gpu: { requestAdapter: async () => adapter } as unknown as GPU })
  full.tensor('weights', 'f32', [250_000])
  await new Promise((resolve) => setTimeout(resolve))
  full.tensor('adam_m', 'f32', [500_000])
  const held = ((full.counts.live_bytes - 2_000_000) / 1e6).toFixed(1)
  const said = `adam_m needs 2.0 MB, and the GPU has no room for it beside the ${held} MB that the run holds already. Choose a smaller batch or a smaller model.`
  // What WebGPU refused is known a moment later; a busy machine takes longer.
  await vi.waitFor(() => expect(() => full.tensor('adam_v', 'f32', [1])).toThrow(said), 10_000)
  full.destroy()
})
