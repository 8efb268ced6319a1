import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ModelFileError } from '../../formats/errors.ts'
import { modelDirectory } from './model_dir.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-model-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('files come whole, and what is not there is undefined', async () => {
  writeFileSync(join(folder, 'a.bin'), Uint8Array.of(1, 2, 3))
  writeFileSync(join(folder, 'empty'), '')
  const source = modelDirectory(folder)
  expect(await source.read('a.bin')).toEqual(Uint8Array.of(1, 2, 3))
  expect(await source.read('empty')).toEqual(new Uint8Array())
  expect(await source.read('b.bin')).toBeUndefined()
})

test('no folder, a file for a folder and a folder for a file are said so', async () => {
  const file = join(folder, 'config.json')
  expect(() => modelDirectory(join(folder, 'none'))).toThrow(
    /none: expected a model directory, found nothing/,
  )
  writeFileSync(file, '{}')
  expect(() => modelDirectory(file)).toThrow(ModelFileError)
  expect(() => modelDirectory(file)).toThrow(/expected a model directory, found a file/)
  mkdirSync(join(folder, 'model.safetensors'))
  const read = modelDirectory(folder).read('model.safetensors')
  await expect(read).rejects.toThrow(/model\.safetensors: expected a readable file \(/)
  await expect(read).rejects.toThrow(ModelFileError)
})
