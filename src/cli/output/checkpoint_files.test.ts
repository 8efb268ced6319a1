import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkpointFolder, clearUnfinished, folderFiles } from './checkpoint_files.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-checkpoints-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The least that is known as a checkpoint of a run. */
function checkpointOf(record: string, ...values: number[]) {
  const metadata = { format: 'understory-checkpoint', record }
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Uint8Array.of(...length, ...header, ...values)
}

test('a folder keeps checkpoints under the names of their steps, and clears away what was never finished', async () => {
  const files = folderFiles(folder, 'run')
  expect(await files.list()).toEqual([])
  expect(await files.read('run', 1)).toBeUndefined()
  await files.write('run', 1_234_567, checkpointOf('run', 1, 2))
  await files.write('run', 20, checkpointOf('run', 3))
  await files.write('run', 20, checkpointOf('run', 4, 5, 6))
  const own = checkpointFolder(folder)
  writeFileSync(join(own, 'step_000030.safetensors.unfinished'), 'half')
  writeFileSync(join(own, 'mine.unfinished'), 'not ours either')
  writeFileSync(join(own, 'notes.txt'), 'not ours')
  const bytes = checkpointOf('run').length
  expect((await files.list('run')).map((entry) => [entry.step, entry.bytes])).toEqual([
    [20, bytes + 3],
    [1_234_567, bytes + 2],
  ])
  expect(await files.list('another')).toEqual([])
  expect(await files.read('run', 20)).toEqual(checkpointOf('run', 4, 5, 6))
  await files.remove('run', [20, 99])
  // To look is not to clear away: another process may be writing.
  expect(readdirSync(own)).toContain('step_000030.safetensors.unfinished')
  clearUnfinished(folder)
  expect(readdirSync(own).sort()).toEqual([
    'mine.unfinished',
    'notes.txt',
    'step_1234567.safetensors',
  ])
})

test('what cannot be written is an error, and leaves nothing under the name', async () => {
  writeFileSync(join(folder, 'file'), '')
  const files = folderFiles(join(folder, 'file'), 'run')
  await expect(files.write('run', 1, Uint8Array.of(1))).rejects.toThrow(/ENOTDIR|EEXIST/)
})
