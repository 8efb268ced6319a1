import { expect, test } from 'vitest'
import { deviceName } from './names.ts'

test('a device is named without the versions of its driver', () => {
  expect(deviceName('NVIDIA: 580.159.04 580.159.4.0')).toBe('NVIDIA')
  expect(deviceName('llvmpipe: Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6) 0.0.1')).toBe('llvmpipe')
  expect(deviceName('SwiftShader driver 5.0.0')).toBe('SwiftShader')
  expect(deviceName('google swiftshader')).toBe('google swiftshader')
  expect(deviceName('NVIDIA GeForce RTX 3060')).toBe('NVIDIA GeForce RTX 3060')
})
