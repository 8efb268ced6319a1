// Files of this page that are gone because a new version was published.
import { keepCheckpoint } from '../../../lab/page/client/checkpoints.ts'
import { onLabEvent } from '../../../lab/page/client/connection.ts'
import { labStore } from '../../../lab/page/store.ts'
import { selectIsBusy } from '../run.ts'

/** Whether a page as the server has it now loads another program than the one that runs. `own`: its address. */
export const isOtherVersion = (html: string, own: string): boolean => {
  const name = own.split('/').at(-1) ?? ''
  return name !== '' && /<script/i.test(html) && !html.includes(name)
}

/** Whether a new version was published since this page was opened; false where the server cannot be asked. */
export async function wasReplaced(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  try {
    const answer = await fetch(location.pathname, { cache: 'no-store' })
    return answer.ok && isOtherVersion(await answer.text(), script?.src ?? '')
  } catch {
    return false
  }
}

/** Longer than a checkpoint takes. */
const KEPT_MS = 5000

/** Keeps the run that is on, if any, and loads the page again: it then offers to continue. */
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
  location.reload()
}
