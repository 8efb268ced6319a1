// Watches the memory of a guest's process from outside: whatever runs in it, it cannot use more
// for long.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Milliseconds between two looks. */
const EVERY_MS = 100

/** Calls `onOver` once the process, or the one that it started, holds more than so many bytes.
 * Returns what ends the watch. */
export function watchMemory(pid: number, most: number, onOver: () => void): () => void {
  let isOver = false
  const hear = (bytes: number) => {
    if (isOver || bytes <= most) return
    stop()
    onOver()
  }
  const timer = setInterval(
    () => (process.platform === 'linux' ? hear(linuxMemory(pid)) : otherMemory(pid, hear)),
    EVERY_MS,
  )
  timer.unref()
  function stop() {
    isOver = true
    clearInterval(timer)
  }
  return stop
}

/** Bytes of a process and all that it started; 0 for what is gone. */
function linuxMemory(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`)) ?? []
  const others = childrenOf(pid).map(linuxMemory)
  return 1024 * Number(kilobytes) + others.reduce((sum, bytes) => sum + bytes, 0)
}

function childrenOf(pid: number): readonly number[] {
  const listed = textOf(`/proc/${pid}/task/${pid}/children`)
  return listed.split(' ').filter(Boolean).map(Number)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** As `ps` says it; Windows has none. */
function otherMemory(pid: number, hear: (bytes: number) => void): void {
  if (process.platform === 'win32') return
  execFile('ps', ['-o', 'rss=', '-p', `${pid}`], (_, text) => hear(1024 * Number(text.trim())))
}
