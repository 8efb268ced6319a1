import { expect, test } from 'vitest'
import { tooLarge } from '../../document/content/content.ts'
import { madeUpOrigin } from '../checkpoints/storage/testing.ts'
import { memoryFolder } from './memory_folder.ts'
import { contentNames } from './named.ts'
import { opfsFolder } from './opfs_folder.ts'
import { testContentFolder } from './testing.ts'

testContentFolder('memory', memoryFolder)
testContentFolder('the browser’s storage', () => {
  const { root } = madeUpOrigin()
  return opfsFolder(async () => root)
})

test('a document names each of its files once', () => {
  const task = { id: 'dataset', data: 'sha256-a', name: 'a.csv', val_data: null, val_name: null }
  expect(contentNames({ task })).toEqual([{ hash: 'sha256-a', name: 'a.csv' }])
  const both = { ...task, name: '', val_data: 'sha256-b', val_name: 'b.csv' }
  expect(contentNames({ task: both })).toEqual([
    { hash: 'sha256-a', name: 'sha256-a' },
    { hash: 'sha256-b', name: 'b.csv' },
  ])
  expect(contentNames({ task: { ...task, val_data: 'sha256-a' } })).toHaveLength(1)
  expect(contentNames({ task: { id: 'chain_sum', terms: 2 } })).toEqual([])
})

test('a file is measured before it is read', () => {
  expect(tooLarge(2 ** 28)).toBeUndefined()
  expect(tooLarge(2 ** 31)).toBe('expected at most 256 MiB, found 2048 MiB; take a part of it')
})
