import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { exportCommand } from './export/export.ts'
import { importRun, readSource } from './import.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-import-'))
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

const write = (name: string, text: string) => {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  return file
}
const LOG = [1, 2]
  .map((step) => JSON.stringify({ step, data: { 'actor/lr': step / 4 } }))
  .join('\n')

test('verl’s log becomes a file that imports to the same run', async () => {
  const out = join(folder, 'out.jsonl')
  expect(await importRun.run([write('verl/metrics.jsonl', LOG), '--out', out])).toBe(0)
  expect(readFileSync(out, 'utf8').split('\n')[0]).toContain('"imported_run":1,"kind":"verl"')
  const [first, again] = [await readSource(join(folder, 'verl')), await readSource(out)]
  expect(again.series).toEqual(first.series)
})

test('a folder of verl’s validation generations becomes a run with its answers', async () => {
  const line = (step: number, score: number) =>
    `${JSON.stringify({ input: '2=', output: '2', gts: '2', score, step })}\n`
  write('val/10.jsonl', line(10, 1))
  write('val/5.jsonl', line(5, 0))
  const out = join(folder, 'val.jsonl')
  expect(await importRun.run([join(folder, 'val'), '--out', out])).toBe(0)
  const again = await readSource(out)
  expect(again).toEqual(await readSource(join(folder, 'val')))
  expect(again).toMatchObject({ kind: 'generations', step: 10 })
  expect(again.generations.map(({ step }) => step)).toEqual([5, 10])
})

test('an event file has every step and number of the run it was written from', async () => {
  const source = write('run/metrics.jsonl', LOG)
  const out = join(folder, 'events')
  expect(await exportCommand.run([source, '--to', 'tensorboard', out])).toBe(0)
  const found = await readSource(out)
  expect(found.kind).toBe('tensorboard')
  expect(found.series).toEqual((await readSource(source)).series)
})

test('what is no log is refused in a sentence', async () => {
  await expect(readSource(join(folder, 'none'))).rejects.toThrow(/no such file or folder/)
  await expect(readSource(write('a.txt', 'hello'))).rejects.toThrow(/no log that is known here/)
  mkdirSync(join(folder, 'empty'))
  await expect(readSource(join(folder, 'empty'))).rejects.toThrow(/there is no log in it/)
  await expect(importRun.run(['a', 'b'])).rejects.toThrow(/takes one file/)
  await expect(importRun.run(['a'])).rejects.toThrow(/needs --out/)
  const events = (...args: string[]) => exportCommand.run([...args, '--to', 'tensorboard'])
  await expect(events('tiny', join(folder, 'x'))).rejects.toThrow(/tiny: no such file or folder/)
  await expect(events('a')).rejects.toThrow(/one folder, got 1 names/)
  await expect(events('a', 'b', '--weights', 'c')).rejects.toThrow(/--weights: has no effect/)
})
