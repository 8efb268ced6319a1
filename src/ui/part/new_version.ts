// Finds new versions of this page: whether one was published, and how a person comes to it without
// losing a run.
import { createStore } from 'zustand/vanilla'
import { onLabEvent } from '../../page/connection/connection.ts'
import { keepCheckpoint } from '../../page/runs/checkpoints.ts'
import { labStore } from '../../page/state/store.ts'
import { selectIsBusy } from '../shown/run.ts'

/** A new version was kept for offline use, and waits (offline.ts). */
export const versionStore = createStore<{ readonly isReady: boolean }>(() => ({ isReady: false }))

/** Whether a page as the server has it now loads another program than the one that runs. `own`: its
 * address. */
export const isOtherVersion = (html: string, own: string): boolean => {
  const name = own.split('/').at(-1) ?? ''
  return name !== '' && /<script/i.test(html) && !html.includes(name)
}

/** Whether a new version was published since this page was opened; false where the server cannot be
 * asked. */
export async function wasReplaced(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  try {
    // The service worker lets this one address through to the server.
    const answer = await fetch(`${location.pathname}?fresh`, { cache: 'no-store' })
    return answer.ok && isOtherVersion(await answer.text(), script?.src ?? '')
  } catch {
    return false
  }
}

/** Longer than a checkpoint takes. */
const KEPT_MS = 5000
/** Longer than a connection needs that is good enough to wait for. */
const TAKEN_MS = 20_000

/** What waits in the service worker takes its place. Without one, or where the server is away,
 * nothing happens. */
async function takeNewVersion(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  await registration?.update()
  const { installing, waiting } = registration ?? {}
  const worker = installing ?? waiting
  if (!worker) return
  await new Promise<void>((resolve) => {
    const step = () => {
      if (worker.state === 'installed') worker.postMessage({ type: 'SKIP_WAITING' })
      if (/^(activated|redundant)$/.test(worker.state)) resolve()
    }
    worker.addEventListener('statechange', step)
    step()
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Keeps the run that is on, if any, and loads the page again, of the newest version: it then
 * offers to continue. */
export async function reloadKept(): Promise<void> {
  if (selectIsBusy(labStore.getState()))
    await new Promise<void>((resolve) => {
      const stop = onLabEvent((event) => {
        if (event.type === 'checkpoint' || event.type === 'checkpoint_problem') done()
      })
      const timer = setTimeout(() => done(), KEPT_MS)
      const done = () => {
        stop()
        clearTimeout(timer)
        resolve()
      }
      keepCheckpoint()
    })
  await Promise.race([takeNewVersion().catch(() => {}), pause(TAKEN_MS)])
  location.reload()
}
