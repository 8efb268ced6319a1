import { expect, test } from 'vitest'
import { memoryFiles } from './memory_files.ts'

test('files in memory are whole copies, listed by step', async () => {
  let now = 100
  const files = memoryFiles(() => now)
  const bytes = Uint8Array.of(1, 2, 3)
  await files.write('a', 20, bytes)
  now = 200
  await files.write('a', 10, bytes)
  await files.write('b', 5, Uint8Array.of(9))
  bytes[0] = 7
  expect(await files.read('a', 20)).toEqual(Uint8Array.of(1, 2, 3))
  ;(await files.read('a', 20))?.fill(0)
  expect(await files.read('a', 20)).toEqual(Uint8Array.of(1, 2, 3))
  expect(await files.read('a', 11)).toBeUndefined()
  expect(await files.read('c', 10)).toBeUndefined()
  expect(await files.list('a')).toEqual([
    { record: 'a', step: 10, bytes: 3, written_at: 200 },
    { record: 'a', step: 20, bytes: 3, written_at: 100 },
  ])
  await files.write('a', 20, Uint8Array.of(4))
  await files.remove('a', [10, 99])
  expect((await files.list()).map(({ record, step, bytes }) => [record, step, bytes])).toEqual([
    ['b', 5, 1],
    ['a', 20, 1],
  ])
})
