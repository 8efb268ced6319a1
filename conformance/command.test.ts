import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LabFailure, UsageError } from '../src/cli/base/command.ts'
import { conform } from '../src/cli/conform.ts'

let folder = ''
let lines: string[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-conform-'))
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => {
    lines.push(line)
  })
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
  vi.restoreAllMocks()
})

/** A hand-made case of verl's masked sums: 1 + 2 + 4 over [[1, 2, _], [4, _, _]], with verl's
 * eps. */
function writeSums(sum_all: number): string {
  const mean = (sum: number, count: number) => sum / (count + 1e-8)
  const expected = {
    sum_all,
    sum_axis_last: [3, 4],
    mean_all: mean(7, 3),
    mean_axis_last: [mean(3, 2), mean(4, 1)],
    mean_axis_first: [mean(5, 2), mean(2, 1), 0],
  }
  const inputs = {
    values: [
      [1, 2, 9],
      [4, 9, 9],
    ],
    mask: [
      [1, 1, 0],
      [1, 0, 0],
    ],
  }
  const file = join(folder, 'masked_mean.json')
  const cases = [{ name: 'hand', inputs, config: {}, expected }]
  writeFileSync(file, JSON.stringify({ source: 'by hand', dtype: 'float64', cases }))
  return file
}

test('0 when all agree, 1 when one does not, and the summary is last', async () => {
  expect(await conform.run([writeSums(7), '--reference-only'])).toBe(0)
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 later')
  expect(await conform.run([writeSums(7.001), '--reference-only'])).toBe(1)
  expect(lines.at(-1)).toContain('sum_all: expected 7.001, got 7')
  expect(lines.at(-1)).toContain('0 passed, 1 failed, 0 later')
})

test('data without code yet is named, and no failure', async () => {
  writeFileSync(join(folder, 'adapter_config.json'), '{}')
  expect(await conform.run([folder, '--reference-only'])).toBe(0)
  expect(lines.at(-2)).toMatch(/^later /)
  expect(lines.at(-1)).toBe('0 passed, 0 failed, 1 later')
})

test('wrong usage and a missing path are said so', async () => {
  await expect(conform.run([])).rejects.toThrow(UsageError)
  await expect(conform.run([folder, folder])).rejects.toThrow('one file or folder')
  await expect(conform.run([folder, '--gpu'])).rejects.toThrow(UsageError)
  const unknown = conform.run([folder, '--kernels', 'vector_9x9'])
  await expect(unknown).rejects.toThrow(UsageError)
  await expect(unknown).rejects.toThrow(/--kernels: .*"vector_9x9".*register_8x8, .*vector_4x4/)
  const idle = conform.run([folder, '--reference-only', '--kernels', 'tiled'])
  await expect(idle).rejects.toThrow('the reference has no kernels')
  // Its former name.
  const former = conform.run([folder, '--matmul', 'vector_9x9'])
  await expect(former).rejects.toThrow(/--matmul: .*"vector_9x9"/)
  await expect(conform.run([join(folder, 'none')])).rejects.toThrow(LabFailure)
})
