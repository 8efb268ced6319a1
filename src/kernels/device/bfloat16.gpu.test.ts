import { expect, test } from 'vitest'
import { defineKernel } from './base/kernel.ts'
import { MemoryPlan } from './base/tensor.ts'
import { decodeBfloat16, encodeBfloat16 } from './bfloat16.ts'
import { Gpu } from './gpu.ts'

const gpu = await Gpu.open()

/** Decodes two values a lane, as every kernel that reads bfloat16 does. */
const decode = defineKernel({
  name: 'decode_bfloat16',
  wgsl: `
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.words) { return; }
  let word = packed[id.x];
  out[2u * id.x] = bitcast<f32>(word << 16u);
  out[2u * id.x + 1u] = bitcast<f32>(word & 0xffff0000u);
}`,
  params: { words: 'u32' },
  bindings: { packed: 'read u32', out: 'read_write' },
  workgroups: ({ words }) => [Math.ceil(words / 64)],
})

test('bfloat16 goes up, is copied, decoded and read back exactly, two to a word', async () => {
  const bits = encodeBfloat16(
    Float32Array.from({ length: 301 }, (_, i) => (i - 150) * 1.37 ** (i % 9)),
  )
  const live = gpu.counts.live_bytes
  const x = gpu.tensor('x', 'bfloat16', [301], { kind: 'weights', data: bits })
  const copied = gpu.tensor('copied', 'bfloat16', [301 + 128])
  expect(gpu.counts.live_bytes - live).toBe(604 + 860)
  const plan = new MemoryPlan()
  plan.tensor('x', 'bfloat16', [301])
  expect(plan.total()).toBe(604)
  gpu.copy(x, copied, { toOffset: 128 })
  const part = gpu.view(copied, 'part', 128, [301])
  const out = gpu.tensor('out', 'f32', [302])
  await gpu.run(decode, { words: 151 }, { packed: part, out })
  const [back, decoded] = await gpu.read(part, out)
  expect(back).toEqual(bits)
  expect(decoded.subarray(0, 301)).toEqual(decodeBfloat16(bits))
  gpu.clear(part, 2)
  gpu.write(part, Uint16Array.of(0x3f80), 300)
  const [again] = await gpu.read(part)
  expect([again[0], again[1], again[2], again[300]]).toEqual([0, 0, bits[2], 0x3f80])
})

test('half a word, other values and a misaligned view are refused', async () => {
  const x = gpu.tensor('x', 'bfloat16', [256])
  expect(() => gpu.write(x, Uint16Array.of(1, 2), 3)).toThrow(/split a word/)
  expect(() => gpu.write(x, Uint16Array.of(1), 2)).toThrow(/split a word/)
  expect(() => gpu.write(x, Float32Array.of(1, 2))).toThrow(/expected bfloat16 values/)
  const packed = gpu.view(x, 'part', 64, [64])
  const out = gpu.tensor('out', 'f32', [64])
  await expect(gpu.run(decode, { words: 32 }, { packed, out })).rejects.toThrow(/multiple of 128/)
})
