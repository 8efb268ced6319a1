import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readTensorBoardLog } from '../../jobs/logs/tensorboard_log.ts'
import { nodeDisk } from '../base/disk.ts'
import { readOptions } from '../train/train_options.ts'
import { EventLog, eventFolder } from './event_log.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-events-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function* bytesOf(path: string) {
  yield readFileSync(path)
}
const read = async (path: string) =>
  new Map(
    [...(await readTensorBoardLog(bytesOf(path))).series].map(
      ([name, { steps, values, length }]) => [
        name,
        [[...steps.subarray(0, length)], [...values.subarray(0, length)]],
      ],
    ),
  )

test('every step is in the file as soon as it is over', async () => {
  const log = new EventLog(join(root, 'live'), () => {})
  log.step(1, { 'critic/score/mean': 0.25 })
  expect(await read(log.path)).toEqual(new Map([['critic/score/mean', [[1], [0.25]]]]))
  log.step(2, { 'critic/score/mean': 0.5 })
  log.close()
  expect(await read(log.path)).toEqual(
    new Map([
      [
        'critic/score/mean',
        [
          [1, 2],
          [0.25, 0.5],
        ],
      ],
    ]),
  )
})

test('a full disk is said once, and what was written before it can be read', async () => {
  const said: string[] = []
  let isFull = false
  const disk = {
    ...nodeDisk,
    write: (file: number, bytes: Uint8Array) => {
      if (!isFull) return nodeDisk.write(file, bytes)
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    },
  }
  const log = new EventLog(join(root, 'full'), (sentence) => said.push(sentence), disk)
  log.step(1, { a: 1 })
  isFull = true
  log.step(2, { a: 2 })
  isFull = false
  log.step(3, { a: 3 })
  log.close()
  expect(said).toEqual([expect.stringMatching(/The run continues without it/)])
  expect(await read(log.path)).toEqual(new Map([['a', [[1], [1]]]]))
})

test('a folder that cannot be is refused before the run begins', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  expect(() => new EventLog(join(file, 'x'), () => {})).toThrow(/^--logger: .*file/)
})

test('the folder is named after the run', () => {
  expect(eventFolder('runs/tiny/', 'x')).toBe(join('tensorboard_log', 'tiny'))
  expect(eventFolder(undefined, 'Zwei Fähigkeiten, π')).toBe(
    join('tensorboard_log', 'Zwei_Fähigkeiten_π'),
  )
  expect(eventFolder(undefined, '')).toBe(join('tensorboard_log', 'run'))
})

test('another logger is refused', async () => {
  expect((await readOptions(['tiny', '--logger', 'tensorboard'])).hasEvents).toBe(true)
  expect((await readOptions(['tiny'])).hasEvents).toBe(false)
  await expect(readOptions(['tiny', '--logger', 'wandb'])).rejects.toThrow(
    /expected tensorboard, got 'wandb'/,
  )
})
