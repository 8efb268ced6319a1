import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { scalarsRecord, versionRecord } from '../formats/tensorboard/tensorboard.ts'
import { exportCommand } from './export/export.ts'
import { importRun } from './import.ts'
import { readSource } from './logs/log_source.ts'

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
  expect(again[0].series).toEqual(first[0].series)
})

test('a folder of verl’s validation generations becomes a run with its answers', async () => {
  const line = (step: number, score: number) =>
    `${JSON.stringify({ input: '2=', output: '2', gts: '2', score, step })}\n`
  write('val/10.jsonl', line(10, 1))
  write('val/5.jsonl', line(5, 0))
  const out = join(folder, 'val.jsonl')
  expect(await importRun.run([join(folder, 'val'), '--out', out])).toBe(0)
  const again = await readSource(out)
  const [{ generations }] = again
  expect(again).toEqual(await readSource(join(folder, 'val')))
  expect(again).toMatchObject([{ kind: 'generations', step: 10 }])
  expect(generations.map(({ step }) => step)).toEqual([5, 10])
})

test('an event file has every step and number of the run it was written from', async () => {
  const source = write('run/metrics.jsonl', LOG)
  const out = join(folder, 'events')
  expect(await exportCommand.run([source, '--to', 'tensorboard', out])).toBe(0)
  const [found] = await readSource(out)
  expect(found.kind).toBe('tensorboard')
  expect(found.series).toEqual((await readSource(source))[0].series)
})

test('of a folder of runs all are read, or those that are named, and what it holds is said', async () => {
  const events = (run: string, value: number) => {
    const file = write(`tb/${run}/events.out.tfevents.1.host`, '')
    writeFileSync(file, Buffer.concat([versionRecord(0), scalarsRecord(0, 3, { loss: value })]))
  }
  events('one', 0.5)
  events('deep/two', 0.25)
  write('tb/one/hparams/events.out.tfevents.2.host', '')
  const root = join(folder, 'tb')
  const out = join(folder, 'runs.jsonl')
  expect(await importRun.run([root, '--out', out])).toBe(0)
  const both = await readSource(out)
  expect(both.map(({ run, step }) => [run, step])).toEqual([
    ['deep/two', 3],
    ['one', 3],
  ])
  expect(both[0].remarks.join()).toMatch(/one\/hparams was left out/)
  const [two, ...others] = await readSource(root, ['deep/two'])
  expect(two.series.get('loss')?.values[0]).toBe(0.25)
  expect(others).toEqual([])
  await expect(readSource(root, ['three'])).rejects.toThrow(
    /no run “three” in it\. The runs are: deep\/two, one, one\/hparams/,
  )
  await expect(exportCommand.run([root, '--to', 'tensorboard', out])).rejects.toThrow(
    /expected one run, found deep\/two, one/,
  )
})

test('of checkpoints of TRL the newest is read', async () => {
  const state = (step: number) => JSON.stringify({ log_history: [{ step, loss: 1, epoch: 1 }] })
  for (const step of [9, 100, 20]) write(`trl/checkpoint-${step}/trainer_state.json`, state(step))
  const [log, ...others] = await readSource(join(folder, 'trl'))
  expect(log.step).toBe(100)
  expect(log.remarks).toEqual(['Read from checkpoint-100, the newest of 3 in the folder.'])
  expect(others).toEqual([])
})

test('what is no log is refused in a sentence', async () => {
  await expect(readSource(join(folder, 'none'))).rejects.toThrow(/no such file or folder/)
  await expect(readSource(write('a.txt', 'hello'))).rejects.toThrow(/Looked for the lines of verl/)
  await expect(readSource(write('a.png', 'hello'))).rejects.toThrow(/no log that is known here/)
  mkdirSync(join(folder, 'empty'))
  await expect(readSource(join(folder, 'empty'))).rejects.toThrow(/there is no log in it/)
  await expect(importRun.run(['a', 'b'])).rejects.toThrow(/takes one file/)
  await expect(importRun.run(['a'])).rejects.toThrow(/needs --out/)
  const events = (...args: string[]) => exportCommand.run([...args, '--to', 'tensorboard'])
  await expect(events('tiny', join(folder, 'x'))).rejects.toThrow(/tiny: no such file or folder/)
  await expect(events('a')).rejects.toThrow(/one folder, got 1 names/)
  await expect(events('a', 'b', '--weights', 'c')).rejects.toThrow(/--weights: has no effect/)
})
