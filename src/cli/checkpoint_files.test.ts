import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkpointFolder, folderFiles } from './checkpoint_files.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-checkpoints-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a folder keeps checkpoints under the names of their steps, and clears away what was never finished', async () => {
  const files = folderFiles(folder, 'run')
  expect(await files.list()).toEqual([])
  expect(await files.read('run', 1)).toBeUndefined()
  await files.write('run', 1_234_567, Uint8Array.of(1, 2))
  await files.write('run', 20, Uint8Array.of(3))
  await files.write('run', 20, Uint8Array.of(4, 5, 6))
  const own = checkpointFolder(folder)
  writeFileSync(join(own, 'step_000030.safetensors.unfinished'), 'half')
  writeFileSync(join(own, 'notes.txt'), 'not ours')
  expect((await files.list('run')).map(({ step, bytes }) => [step, bytes])).toEqual([
    [20, 3],
    [1_234_567, 2],
  ])
  expect(await files.list('another')).toEqual([])
  expect(await files.read('run', 20)).toEqual(Uint8Array.of(4, 5, 6))
  await files.remove('run', [20, 99])
  expect(readdirSync(own).sort()).toEqual(['notes.txt', 'step_1234567.safetensors'])
})

test('what cannot be written is an error, and leaves nothing under the name', async () => {
  writeFileSync(join(folder, 'file'), '')
  const files = folderFiles(join(folder, 'file'), 'run')
  await expect(files.write('run', 1, Uint8Array.of(1))).rejects.toThrow(/ENOTDIR|EEXIST/)
})
