// Which tab is at work on which run: a lock for each that ends with the page at the latest.

const PREFIX = 'understory.run.'

/** Runs that this page holds, with how to let go. */
const own = new Map<string, () => void>()

/** Takes a run for this page; false where another tab has it. Browsers without locks never say so. */
export async function claimRun(id: string): Promise<boolean> {
  if (own.has(id) || !navigator.locks) return true
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null)
      if (!lock) return undefined
      return new Promise((release) => own.set(id, release))
    }
    navigator.locks
      .request(`${PREFIX}${id}`, { ifAvailable: true }, hold)
      .catch(() => resolve(true))
  })
}

/** This page is no longer at work on a run. */
export function releaseRun(id: string): void {
  own.get(id)?.()
  own.delete(id)
}

/** Runs that go on in some tab, this one included. */
export async function heldRuns(): Promise<ReadonlySet<string>> {
  const held = (await navigator.locks?.query().catch(() => undefined))?.held ?? []
  const names = held.map(({ name = '' }) => name)
  return new Set(
    names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length)),
  )
}

/** Another tab is at work on it. */
export const isHeldElsewhere = async (id: string): Promise<boolean> =>
  !own.has(id) && (await heldRuns()).has(id)
