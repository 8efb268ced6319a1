// Locks a run folder, so that one process at a time writes it.
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { LabFailure } from '../base/command.ts'
import { attempt, reason } from '../base/disk.ts'

/** The file in a run folder while a process works on it. */
export const LOCK = 'run.lock'
const FORMAT = 'understory-lock-1'

/** Who works on a folder. */
export interface LockOwner {
  readonly format: typeof FORMAT
  readonly pid: number
  readonly host: string
  /** Tells the process from a later one with the same number; '' where the system does not say. */
  readonly started: string
  /** ISO 8601. */
  readonly since: string
}

export interface RunLock {
  /** Gives the folder free. May be called twice. */
  release(): void
}

/** The fields of /proc/PID/stat from the state on; undefined on systems without it. The name in
 * brackets before them may hold anything. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return undefined
  }
}

/** The boot and the clock ticks at which a process began: Linux says it, other systems give ''. */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const ticks = statOf(pid)?.[19]
    return ticks === undefined ? '' : `${boot} ${ticks}`
  } catch {
    return ''
  }
}

/** A process that has ended, and whose parent has not asked for its status yet: a container without
 * an init process keeps such ones. */
const hasEnded = (pid: number): boolean => ['Z', 'X', 'x'].includes(statOf(pid)?.[0] ?? '')

/** Whether the process that a lock names still runs. On another machine that cannot be known:
 * undefined. */
export function isAlive({ pid, host, started }: LockOwner): boolean | undefined {
  if (host !== hostname()) return undefined
  const error = attempt(() => process.kill(pid, 0))
  // EPERM: it runs, and belongs to someone else.
  if (error !== undefined && (error as { code?: unknown }).code !== 'EPERM') return false
  if (hasEnded(pid)) return false
  const now = startOf(pid)
  return started === '' || now === '' || started === now
}

/** Whose lock a folder has; undefined for none, 'unknown' for a file that is no lock. */
export function readLock(folder: string): LockOwner | 'unknown' | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, LOCK), 'utf8')
  } catch (error) {
    return (error as { code?: unknown }).code === 'ENOENT' ? undefined : 'unknown'
  }
  try {
    const owner: Partial<LockOwner> | null = JSON.parse(text)
    const isOurs = owner?.format === FORMAT && Number.isSafeInteger(owner.pid)
    return isOurs ? (owner as LockOwner) : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** Takes a folder for this process, and makes it where there is none. Throws LabFailure where
 * another process has it, or where it cannot be made or written. The lock of a process that no
 * longer runs is taken over, which `tell` hears. */
export function lockFolder(folder: string, tell: (sentence: string) => void): RunLock {
  const made = inWords(folder, () => mkdirSync(folder, { recursive: true }))
  const owner = readLock(folder)
  if (owner !== undefined) {
    refuseLiving(folder, owner)
    takeAway(folder, owner as LockOwner)
    tell(
      `${folder}: the process ${(owner as LockOwner).pid} that worked here no longer runs; its lock is taken over`,
    )
  }
  const own: LockOwner = {
    format: FORMAT,
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
    since: new Date().toISOString(),
  }
  create(folder, own)
  let isHeld = true
  return {
    release: () => {
      if (!isHeld) return
      isHeld = false
      attempt(() => rmSync(join(folder, LOCK), { force: true }))
      // What came to nothing leaves no empty folder.
      if (made !== undefined) attempt(() => rmdirSync(folder))
    },
  }
}

/** Throws LabFailure where someone may be at work in a folder. */
export function refuseLiving(folder: string, owner = readLock(folder)): void {
  if (owner === undefined) return
  const path = join(folder, LOCK)
  if (owner === 'unknown')
    throw new LabFailure(
      `${path}: expected the lock of lab train, found something else. Name another folder, or delete this file if no lab train works there`,
    )
  const alive = isAlive(owner)
  if (alive === false) return
  const who = `process ${owner.pid} on ${owner.host} (since ${owner.since})`
  throw new LabFailure(
    alive
      ? `${folder}: ${who} works on this run. Wait until it ends, or end it first (Ctrl-C leaves a checkpoint)`
      : `${folder}: ${who} works on this run, or was cut short; that cannot be seen from here. If it no longer runs, delete ${path}`,
  )
}

/** Removes the lock of a process that is gone, unless another one was quicker and the lock is a new
 * one. */
function takeAway(folder: string, stale: LockOwner): void {
  const path = join(folder, LOCK)
  const aside = `${path}.${process.pid}`
  inWords(folder, () => renameSync(path, aside))
  const { started, since, pid } = JSON.parse(readFileSync(aside, 'utf8')) as LockOwner
  if (started === stale.started && since === stale.since && pid === stale.pid)
    return rmSync(aside, { force: true })
  renameSync(aside, path)
  refuseLiving(folder)
  throw new LabFailure(`${folder}: another lab train takes this run over at this moment`)
}

/** Throws LabFailure where there is one by now. */
function create(folder: string, owner: LockOwner): void {
  const path = join(folder, LOCK)
  inWords(folder, () => {
    const file = openNew(path)
    if (file === undefined)
      throw new LabFailure(`${folder}: another lab train began in this folder at this moment`)
    try {
      writeFileSync(file, `${JSON.stringify(owner)}\n`)
    } catch (error) {
      attempt(() => rmSync(path, { force: true }))
      throw error
    } finally {
      closeSync(file)
    }
  })
}

/** Undefined where the file is there already. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return undefined
    throw error
  }
}

/** What the system refuses is a sentence about the folder. */
function inWords<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LabFailure) throw error
    throw new LabFailure(
      `${folder}: cannot be written (${reason(error)}). Name a folder that you may write to, on a disk with room`,
    )
  }
}
