import { expect, test } from 'vitest'
import { kernelFeatures, matrixBlocks, narrowLanes } from './features.ts'

const block = (componentType: string, M: number, N: number, K: number) => ({
  componentType,
  resultComponentType: 'f32',
  M,
  N,
  K,
})
const info = (...subgroupMatrixConfigs: object[]) =>
  ({ vendor: 'test', subgroupMatrixConfigs }) as unknown as GPUAdapterInfo
/** As Dawn in Node gives it: its own adapterInfo has no blocks. */
const device = {
  features: new Set(['subgroups', 'shader-f16', 'chromium-experimental-subgroup-matrix']),
  adapterInfo: info(),
} as unknown as GPUDevice

test('the blocks of an adapter as text, none where it lists none', () => {
  const listed = info(block('f16', 16, 8, 16), block('f32', 8, 8, 8))
  expect(matrixBlocks(listed)).toEqual(['f16 16x8x16 to f32', 'f32 8x8x8 to f32'])
  expect(matrixBlocks({ vendor: 'test' } as unknown as GPUAdapterInfo)).toEqual([])
})

test('kernels are offered the blocks that they are written for, and no others', () => {
  const plain = ['subgroups', 'shader-f16']
  expect(kernelFeatures(device, info(block('f16', 16, 8, 16)))).toEqual(plain)
  expect(kernelFeatures(device, info(block('f16', 16, 16, 16)))).toEqual([
    ...plain,
    'subgroup-matrix-f16',
  ])
})

test('subgroups of 8 are asked for on Intel alone, where sizes can be asked for and are so small', () => {
  const sized = { features: new Set(['subgroup-size-control']) } as unknown as GPUDevice
  expect(narrowLanes(sized, { vendor: 'intel', subgroupMinSize: 8 })).toBe(8)
  expect(narrowLanes(sized, { vendor: 'intel', subgroupMinSize: 16 })).toBeUndefined()
  expect(narrowLanes(sized, { vendor: 'amd', subgroupMinSize: 8 })).toBeUndefined()
  expect(narrowLanes(device, { vendor: 'intel', subgroupMinSize: 8 })).toBeUndefined()
})
