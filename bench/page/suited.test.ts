// Holds the suites of bench/ to the kernels that a run takes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unpinned } from '../../src/cli/train/train_kernels.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { rlConfig } from './rl.ts'

const PAGE = import.meta.dirname
const { config } = rlConfig('two-skills-bupo')
const gpuOf = (is_software: boolean) =>
  ({ facts: { is_software, features: ['subgroups'] } }) as unknown as Gpu

test('a timed configuration has the products of a run on this adapter', () => {
  const { matmul = {} } = suited(gpuOf(false), config)
  expect(matmul).toEqual(unpinned(gpuOf(false), config))
  expect(Object.keys(matmul).length).toBeGreaterThan(8)
  expect(suited(gpuOf(true), config).matmul).toEqual({})
})

test('what a suite pins stays', () => {
  const matmul = { '*': 'register_8x8' }
  expect(suited(gpuOf(false), { ...config, matmul }).matmul).toEqual(matmul)
})

test('no suite, nor the page’s benchmark, makes a trainer or an actor on the default products', () => {
  const suites = readdirSync(PAGE).filter((file) => /^(?!suited).*\.ts$/.test(file))
  const files = [...suites, '../../src/rl/train/benchmark.ts']
  const made = files.flatMap((file) => {
    const text = readFileSync(join(PAGE, file), 'utf8')
    return (text.match(/await Trainer\.create\(.*/g) ?? []).map((call) => `${file}: ${call}`)
  })
  expect(made.length).toBeGreaterThan(4)
  expect(made.filter((call) => !call.includes('suited(gpu, '))).toEqual([])
  expect(readFileSync(join(PAGE, 'actor_sft.ts'), 'utf8')).toMatch(/kernels: \{ matmul: gpuChoice/)
})
