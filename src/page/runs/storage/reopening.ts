// Reopens a storage that the browser may close under the page, e.g. because somebody clears the
// data of the site.
import { isClosed, type RunStorage } from '../../../record/run/storage.ts'

/** The same storage, opened again with `open` once it was closed. Reads, and calls that need no
 * earlier one, are repeated there. A write is not: it builds on earlier ones that may be gone, and
 * rejects, so that its caller writes all of it. */
export function reopening(first: RunStorage, open: () => Promise<RunStorage>): RunStorage {
  let current: Promise<RunStorage> | undefined = Promise.resolve(first)
  const attempt = async <T>(work: (storage: RunStorage) => Promise<T>): Promise<T> => {
    current ??= open()
    const used = current
    try {
      const storage = await used
      return await work(storage)
    } catch (error) {
      const isOpen = await used.then(
        () => !isClosed(error),
        () => false,
      )
      if (!isOpen && current === used) current = undefined
      throw error
    }
  }
  const twice = <T>(work: (storage: RunStorage) => Promise<T>): Promise<T> =>
    attempt(work).catch((error) => {
      if (!isClosed(error)) throw error
      return attempt(work)
    })
  return {
    list: () => twice((storage) => storage.list()),
    write: (write) => attempt((storage) => storage.write(write)),
    label: (labels) => twice((storage) => storage.label(labels)),
    read: (id) => twice((storage) => storage.read(id)),
    chunks: (id) => twice((storage) => storage.chunks(id)),
    remove: (ids) => twice((storage) => storage.remove(ids)),
  }
}
