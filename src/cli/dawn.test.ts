import { expect, test } from 'vitest'
import { isSupported } from './dawn.ts'

test.for([
  ['llvmpipe: Mesa 22.3.6 (LLVM 15.0.6) 0.0.1', false],
  ['llvmpipe: Mesa 23.3.1 (LLVM 17.0.6) 0.0.1', false],
  ['llvmpipe: Mesa 24.0.0 (LLVM 17.0.6) 0.0.1', true],
  ['llvmpipe: Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6) 0.0.1', true],
  ['SwiftShader driver 5.0.0', true],
  ['NVIDIA: 570.86.15 570.86.15.0', true],
  // A real GPU of an old Mesa works.
  ['Intel open-source Mesa driver: Mesa 22.3.6', true],
  ['', true],
] as const)('of software drivers only a lavapipe before Mesa 24 is refused: %s', ([text, used]) => {
  expect(isSupported(text)).toBe(used)
})
