import { expect, test } from 'vitest'
import { dawnOptions, isSupported, pollByTimer } from './dawn.ts'

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

test('Dawn gets the toggles that are named, in one list', () => {
  expect(dawnOptions('')).toEqual(['enable-dawn-features=allow_unsafe_apis'])
  expect(dawnOptions('vulkan_enable_f16_on_nvidia, dump_shaders')).toEqual([
    'enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia,dump_shaders',
  ])
  expect(() => dawnOptions('f16;matrices')).toThrow("got 'f16;matrices'")
})

test('callbacks without a source wait for a timer, and all others are immediate', () => {
  const calls: unknown[][] = []
  const record =
    (name: string) =>
    (...args: unknown[]) =>
      calls.push([name, ...args])
  const timers = { setImmediate: record('immediate'), setTimeout: record('timer') }
  pollByTimer(timers as unknown as typeof globalThis)
  // What a promise passes is native and nameless, as the callbacks of Dawn's binding are.
  let native = (_?: unknown) => {}
  new Promise((resolve) => {
    native = resolve
  })
  const written = () => {}
  timers.setImmediate(native)
  timers.setImmediate(written, 'argument')
  timers.setImmediate(Math.max)
  expect(calls).toEqual([
    ['timer', native, 1],
    ['immediate', written, 'argument'],
    ['immediate', Math.max],
  ])
})
