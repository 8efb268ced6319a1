// Gives the browser's own worker and page: what the client is opened with outside of tests.
import * as z from 'zod/mini'
import type { ContentStore } from '../../document/content/content.ts'
import { isCardHash } from '../../document/links/names.ts'
import { isViewHash } from '../../document/links/view.ts'
import type { LabPage, LabPort } from '../connection/port.ts'
import { remembered } from '../state/remembered.ts'

export const newWorker = (): LabPort =>
  new Worker(new URL('../../host/worker/worker.ts', import.meta.url), {
    type: 'module',
    name: 'understory',
  })

/** The browser's storage; where it is off, the page remembers as long as it is open. */
function browserMemory(): Pick<LabPage, 'recall' | 'remember'> {
  const stored = remembered('kernels', z.optional(z.string()), undefined)
  let kept: string | undefined
  return {
    recall: () => stored.get() ?? kept,
    remember: (kernelCache) => {
      kept = kernelCache
      stored.set(kernelCache)
    },
  }
}

let contents: Promise<ContentStore> | undefined

/** Only some visitors have files of their own. */
async function openContents(): Promise<ContentStore> {
  const [{ contentStore }, { pageFolder }] = await Promise.all([
    import('../../host/content/content_store.ts'),
    import('../../host/content/opfs_folder.ts'),
  ])
  return contentStore(await pageFolder())
}

/** The browser's own page. Frames stop in hidden tabs, so a timer replaces them. */
export function browserPage(): LabPage {
  // A query after '#' is read too: some programs strip the one after '?'.
  const isQuery =
    /=/.test(location.hash) && !isCardHash(location.hash) && !isViewHash(location.hash)
  const hash = isQuery ? location.hash : ''
  let written: string | undefined
  const replaceQuery = (query: string) => {
    written = query
    const view = isViewHash(location.hash) ? location.hash : ''
    history.replaceState(history.state, '', `?${query}${view}`)
  }
  // An entry that the browser goes back to has the settings of its time in its address. What leads
  // Back out of a dialog keeps the event from all who come later.
  const follow = () => {
    if (written !== undefined) replaceQuery(written)
  }
  addEventListener('popstate', follow, true)
  return {
    address: location.href.replace(/[?#].*$/s, ''),
    query: location.search.length > 1 ? location.search : hash,
    hash: location.hash,
    replaceQuery,
    nextFrame: (flush) => {
      let isDone = false
      const once = () => {
        if (!isDone) flush()
        isDone = true
      }
      requestAnimationFrame(once)
      setTimeout(once, 500)
    },
    ...browserMemory(),
    contents: () => {
      contents ??= openContents()
      return contents
    },
    models: async () => (await import('../../host/content/models/opfs_disk.ts')).keptModels(),
    dataPort: () =>
      new Worker(new URL('../contents/data_worker.ts', import.meta.url), { type: 'module' }),
    now: () => performance.now(),
  }
}
