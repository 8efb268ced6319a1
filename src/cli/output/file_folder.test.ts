import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { jsonFile, textFile } from '../../formats/out_file.ts'
import { nodeDisk } from '../base/disk.ts'
import { EXPORT_MARK, refuseFolder, writeFolder } from './file_folder.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-folder-'))
afterAll(() => rmSync(root, { recursive: true }))
let folder = ''
let count = 0
beforeEach(() => {
  folder = join(root, `f${++count}`, 'ein Ördner')
})

const mark = jsonFile(EXPORT_MARK, { format: 'understory-job-1' })
const files = [textFile('a.txt', 'å'), textFile('deep/b.txt', 'bb'), mark]
const beside = () => readdirSync(join(folder, '..'))

describe('a folder that is written', () => {
  test('has every file, and nothing beside it', () => {
    expect(writeFolder(folder, files)).toBe(4 + readFileSync(join(folder, EXPORT_MARK)).length)
    expect(readFileSync(join(folder, 'deep', 'b.txt'), 'utf8')).toBe('bb')
    expect(beside()).toEqual(['ein Ördner'])
  })

  test('takes the place of an empty folder, and with --force of an earlier export', () => {
    mkdirSync(folder, { recursive: true })
    refuseFolder(folder, false)
    writeFolder(folder, files)
    expect(() => refuseFolder(folder, false)).toThrow(
      'holds an earlier export. Name another folder, or',
    )
    refuseFolder(folder, true)
    writeFolder(`${folder}/`, [textFile('new.txt', ''), mark])
    expect(readdirSync(folder).sort()).toEqual(['new.txt', EXPORT_MARK])
    expect(beside()).toEqual(['ein Ördner'])
  })

  test('does not take the place of anything else, forced or not', () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'thesis.txt'), 'years')
    for (const force of [false, true])
      expect(() => refuseFolder(folder, force)).toThrow('no export of the lab, so it is left alone')
    writeFileSync(join(folder, EXPORT_MARK), '{"format":"other"}')
    expect(() => refuseFolder(folder, true)).toThrow('left alone')
    expect(() => refuseFolder(join(folder, 'thesis.txt'), true)).toThrow('is not a folder')
    expect(() => refuseFolder('', true)).toThrow('expected the name of a folder')
  })

  test.for(['open', 'write', 'flush', 'makeFolder'] as const)(
    'leaves nothing, and what was there, where the disk fails at %s',
    (name) => {
      writeFolder(folder, files)
      let calls = 0
      const disk = {
        ...nodeDisk,
        [name]: (...args: never[]) => {
          if (++calls === 2) throw new Error('ENOSPC: no space left on device')
          return (nodeDisk[name] as (...args: never[]) => never)(...args)
        },
      }
      expect(() => writeFolder(folder, [textFile('x', 'x'), textFile('y/z', 'y')], disk)).toThrow(
        /ein Ördner: cannot be written \(ENOSPC.*\)\. Name a folder that you may write to, on a disk with room/,
      )
      expect(readdirSync(folder).sort()).toEqual(['a.txt', 'deep', EXPORT_MARK])
      expect(beside()).toEqual(['ein Ördner'])
    },
  )

  test('stops where a file cannot be made, and leaves nothing', () => {
    function* broken() {
      yield new Uint8Array([1])
      throw new RangeError('no such tensor')
    }
    expect(() => writeFolder(folder, [{ path: 'model', pieces: broken() }])).toThrow(
      'no such tensor',
    )
    expect(existsSync(folder)).toBe(false)
    expect(beside()).toEqual([])
  })
})
