import { expect, test } from 'vitest'
import { readParams } from './program.ts'

test('params are read back as they were laid out', () => {
  const bytes = new DataView(new ArrayBuffer(16))
  bytes.setUint32(4, 7, true)
  bytes.setFloat32(8, 0.5, true)
  bytes.setUint32(12, 0xffffffff, true)
  const params = { count: 'u32', scale: 'f32', last: 'u32' } as const
  expect(readParams(params, bytes, 4)).toEqual({ count: 7, scale: 0.5, last: 0xffffffff })
})
