import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LabFailure } from '../base/command.ts'
import { readMatmulChoice } from './matmul_choice.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-matmul-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function file(text: string): string {
  const path = join(folder, 'choice.json')
  writeFileSync(path, text)
  return path
}
const choice = { '*': 'vector_4x4', nt_add_m64_n32_k48: 'register_8x8' }
const json = (value: unknown) => file(JSON.stringify(value))

test('a plain choice and the one in a run.json are the same', () => {
  expect(readMatmulChoice(json(choice))).toEqual(choice)
  expect(readMatmulChoice(json({ status: 'finished', versions: {}, matmul: choice }))).toEqual(
    choice,
  )
  expect(readMatmulChoice(json({}))).toEqual({})
})

test('a run without a choice had the default kernels', () => {
  expect(readMatmulChoice(json({ status: 'finished', versions: {} }))).toEqual({})
})

test('what is no choice is refused, and the message says where and what was expected', () => {
  const refuse = (path: string, ...parts: string[]) => {
    const read = () => readMatmulChoice(path)
    expect(read).toThrow(LabFailure)
    for (const part of [path, ...parts]) expect(read).toThrow(part)
  }
  refuse(join(folder, 'none.json'), 'no such file')
  refuse(file('{'), 'JSON')
  for (const [value, got] of [
    [[choice], 'an array'],
    [null, 'null'],
    ['vector_4x4', 'a string'],
    [{ versions: {}, matmul: ['vector_4x4'] }, 'an array'],
  ] as const)
    refuse(json(value), 'expected {"shape class": "variant", …}', got)
  refuse(json({ '*': 'vector_9x9' }), '*', '"vector_9x9"', 'expected one of register_8x8')
  refuse(json({ nt_m1_n2_k4: 3 }), 'nt_m1_n2_k4', '3', 'expected one of register_8x8')
  refuse(json({ nt_m1_n2: 'vector_4x4' }), 'nt_m1_n2: no shape class', 'nt_m4096_n192_k64')
})
