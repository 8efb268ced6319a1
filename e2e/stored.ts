// Reads what a page has stored: records in IndexedDB, checkpoints in the origin-private file
// system, and how often they are written.
import type { BrowserContext, Page } from '@playwright/test'
import { expect, type LabPage } from './lab_page.ts'

/** Keeps a state after every so many steps, whatever the clock says: tests are over before the
 * usual ten seconds. */
export const keepEvery = (target: Page | BrowserContext, everySteps: number): Promise<unknown> =>
  target.addInitScript((every) => {
    const often = { every_steps: every, every_ms: 0, budget_bytes: 256e6 }
    localStorage.setItem('understory.checkpoints', JSON.stringify(often))
  }, everySteps)

/** The steps whose states were written since the page was opened. */
export const keptSteps = async (lab: LabPage): Promise<number[]> =>
  (await lab.events()).flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []))

export const waitForCheckpoint = (lab: LabPage, step: number): Promise<void> =>
  expect
    .poll(async () => Math.max(0, ...(await keptSteps(lab))), { timeout: 200_000 })
    .toBeGreaterThanOrEqual(step)

/** The runs that have checkpoints in this browser. */
export const keptFolders = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory()
    const folder = await origin.getDirectoryHandle('checkpoints')
    return Array.fromAsync(folder.keys())
  })

/** Of every record that is written, what it says of its run: "finished 7". */
const records = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    // The page makes it when it first needs it.
    const all = await indexedDB.databases()
    if (!all.some(({ name }) => name === 'understory.runs')) return []
    return new Promise<string[]>((resolve, reject) => {
      const request = indexedDB.open('understory.runs')
      request.onerror = () => reject(request.error)
      request.onblocked = () => reject(new Error('the database is blocked'))
      request.onsuccess = () => {
        const database = request.result
        try {
          const all = database.transaction('headers').objectStore('headers').getAll()
          all.onerror = () => reject(all.error)
          all.onsuccess = () => resolve(all.result.map(({ step, status }) => `${status} ${step}`))
        } catch (error) {
          reject(error)
        }
        // After what was asked.
        database.close()
      }
    })
  })

/** Waits until the records say this of their runs; they are written every few seconds, and when a
 * run is over. */
export const waitForRecords = (page: Page, ...wanted: string[]): Promise<void> =>
  expect.poll(() => records(page).catch(() => []), { timeout: 30_000 }).toEqual(wanted)

/** Puts a record into the database that cannot be understood, as soon as the page has made it. */
export const breakRecord = (page: Page, id: string) =>
  expect(() => putBroken(page, id)).toPass({ timeout: 30_000 })

const putBroken = (page: Page, id: string) =>
  page.evaluate(async (id) => {
    // Opened before the page has made it, the database would be an empty one.
    const all = await indexedDB.databases()
    if (!all.some(({ name }) => name === 'understory.runs')) throw new Error('no database yet')
    return new Promise<void>((resolve, reject) => {
      const request = indexedDB.open('understory.runs')
      request.onerror = () => reject(request.error)
      request.onblocked = () => reject(new Error('the database is blocked'))
      request.onsuccess = () => {
        const database = request.result
        const end = (how: () => void) => () => {
          database.close()
          how()
        }
        try {
          const tx = database.transaction('headers', 'readwrite')
          tx.objectStore('headers').put({ id, record_version: 1, step: 'x' })
          tx.oncomplete = end(resolve)
          tx.onabort = end(() => reject(tx.error))
        } catch (error) {
          end(() => reject(error))()
        }
      }
    })
  }, id)
