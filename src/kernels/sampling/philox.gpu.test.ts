// The random numbers of shaders, against their published ones and those of TypeScript.
import { expect, test } from 'vitest'
import { defineKernel } from '../device/base/kernel.ts'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import philoxWgsl from '../wgsl/philox.wgsl?raw'
import { philox4x32, uniform24 } from './philox.ts'

const gpu = await Gpu.open()

const philox = defineKernel({
  name: 'philox_test',
  wgsl: `
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u) {
  let w = group.x * 6u;
  let drawn = philox4x32(vec4u(words[w], words[w + 1u], words[w + 2u], words[w + 3u]), vec2u(words[w + 4u], words[w + 5u]));
  for (var i = 0u; i < 4u; i++) {
    bits[group.x * 4u + i] = drawn[i];
    uniforms[group.x * 4u + i] = uniform24(drawn[i]);
  }
}
${philoxWgsl}`,
  params: { count: 'u32' },
  bindings: { words: 'read u32', bits: 'read_write u32', uniforms: 'read_write' },
  workgroups: ({ count }) => [count],
})

test('philox.wgsl gives the known answers of Random123 and the numbers of its TypeScript twin', async () => {
  const ones = 0xffffffff
  const known = [
    [0, 0, 0, 0, 0, 0],
    [ones, ones, ones, ones, ones, ones],
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0],
  ]
  const others = Array.from({ length: 50 }, (_, n) =>
    [...randomValues(6, n)].map((x) => Math.floor((x + 1) * 2 ** 31)),
  )
  const words = [...known, ...others]
  const count = words.length
  const tensors = {
    words: gpu.tensor('words', 'u32', [count, 6], { data: Uint32Array.from(words.flat()) }),
    bits: gpu.tensor('bits', 'u32', [count, 4]),
    uniforms: gpu.tensor('uniforms', 'f32', [count, 4]),
  }
  await gpu.run(philox, { count }, tensors)
  const [bits, uniforms] = await gpu.read(tensors.bits, tensors.uniforms)
  expect([...bits.subarray(0, 12)]).toEqual([
    0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
    0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1,
  ])
  expect([...bits]).toEqual(
    words.flatMap(([a, b, c, d, low, high]) => philox4x32([a, b, c, d], [low, high])),
  )
  expect([...uniforms]).toEqual([...bits].map(uniform24))
})
