import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LabFailure } from '../base/command.ts'
import { train } from '../train/train.ts'
import { isAlive, LOCK, lockFolder, readLock } from './run_lock.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-lock-'))
afterAll(() => rmSync(root, { recursive: true }))

const ended = async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => child.on('close', resolve))
  return child.pid ?? 0
}
const lockOf = (folder: string, fields: object) =>
  writeFileSync(
    join(folder, LOCK),
    JSON.stringify({
      format: 'understory-lock-1',
      pid: process.pid,
      host: hostname(),
      started: '',
      since: '2026-01-01T00:00:00.000Z',
      ...fields,
    }),
  )

test('a folder belongs to one process until it is given free', async () => {
  const folder = join(root, 'one')
  const said: string[] = []
  const lock = lockFolder(folder, (sentence) => said.push(sentence))
  expect(readLock(folder)).toMatchObject({ pid: process.pid, host: hostname() })
  for (const work of [
    () => Promise.resolve(lockFolder(folder, () => {})),
    () => train.run(['--resume', folder]),
    () => train.run(['tiny', '--out', folder, '--force']),
  ])
    await expect((async () => work())()).rejects.toThrow(
      new RegExp(`process ${process.pid} on .* works on this run\\. Wait until it ends`),
    )
  writeFileSync(join(folder, 'a'), '')
  lock.release()
  expect(existsSync(join(folder, LOCK))).toBe(false)
  const again = lockFolder(folder, (sentence) => said.push(sentence))
  again.release()
  again.release()
  expect(said).toEqual([])
})

test('the lock of a process that is gone is taken over, and said', async () => {
  const folder = mkdtempSync(join(root, 'stale-'))
  const pid = await ended()
  lockOf(folder, { pid })
  const said: string[] = []
  const lock = lockFolder(folder, (sentence) => said.push(sentence))
  expect(said).toEqual([expect.stringContaining(`process ${pid} that worked here no longer runs`)])
  expect(readLock(folder)).toMatchObject({ pid: process.pid })
  lock.release()
})

test.runIf(existsSync('/proc/self/stat'))(
  'a process that was killed is dead, though its parent has not reaped it',
  async () => {
    // The shell becomes `sleep`, which never asks for the status of its child.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 30'])
    try {
      const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
      const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0]
      await expect.poll(state).toBe('Z')
      const folder = mkdtempSync(join(root, 'zombie-'))
      lockOf(folder, { pid })
      lockFolder(folder, () => {}).release()
    } finally {
      parent.kill()
    }
  },
)

test('a later process with the same number is another one, where the system says when it began', () => {
  const folder = mkdtempSync(join(root, 'same-'))
  const lock = lockFolder(folder, () => {})
  const owner = readLock(folder)
  if (typeof owner !== 'object') throw new Error('no lock')
  lock.release()
  expect(isAlive(owner)).toBe(true)
  const other = { ...owner, started: 'another boot 1' }
  // Elsewhere the number alone counts, so that no living process is robbed.
  expect(isAlive(other)).toBe(process.platform !== 'linux')
})

test('of another machine nothing is known, so nothing is taken; a lock that is none is not deleted', () => {
  const folder = mkdtempSync(join(root, 'far-'))
  lockOf(folder, { host: 'elsewhere' })
  expect(() => lockFolder(folder, () => {})).toThrow(
    /process \d+ on elsewhere .*cannot be seen from here\. If it no longer runs, delete /,
  )
  writeFileSync(join(folder, LOCK), 'mine')
  expect(() => lockFolder(folder, () => {})).toThrow(LabFailure)
  expect(() => lockFolder(folder, () => {})).toThrow('expected the lock of lab train')
  expect(readFileSync(join(folder, LOCK), 'utf8')).toBe('mine')
})

test('a folder that came to nothing is not left behind', () => {
  const folder = join(root, 'new', 'nothing')
  lockFolder(folder, () => {}).release()
  expect(existsSync(folder)).toBe(false)
})
