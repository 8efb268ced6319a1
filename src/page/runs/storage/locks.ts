// Says which tab is at work on which run: a lock for each that ends with the page at the latest.

const PREFIX = 'understory.run.'

/** Runs that this page holds, each with how to release it. */
const own = new Map<string, () => void>()
/** Runs that this page has released and the browser still counts as held, for a moment. */
const leaving = new Map<string, Promise<unknown>>()

/** Also missing where there is no browser. */
const locks = (): LockManager | undefined => globalThis.navigator?.locks

/** Takes a run for this page; false where another tab has it. Browsers without locks never say
 * so. */
export async function claimRun(id: string): Promise<boolean> {
  const manager = locks()
  if (own.has(id) || !manager) return true
  await leaving.get(id)
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null)
      if (!lock) return undefined
      return new Promise((release) =>
        own.set(id, () => {
          const left = () => leaving.delete(id)
          leaving.set(id, held.then(left, left))
          release()
        }),
      )
    }
    const held = manager.request(`${PREFIX}${id}`, { ifAvailable: true }, hold)
    held.catch(() => resolve(true))
  })
}

/** This page is no longer at work on a run. */
export function releaseRun(id: string): void {
  own.get(id)?.()
  own.delete(id)
}

/** Takes a run until the answer is called; undefined where another tab has it. What this page holds
 * anyway it keeps. */
export async function borrowRun(id: string): Promise<(() => void) | undefined> {
  if (own.has(id)) return () => {}
  return (await claimRun(id)) ? () => releaseRun(id) : undefined
}

/** Does what must not happen to a run that another tab is at work on, with those of `ids` that none
 * is. Returns the others. */
export async function withFreeRuns(
  ids: readonly string[],
  work: (free: readonly string[]) => Promise<unknown>,
): Promise<readonly string[]> {
  const taken = new Map<string, () => void>()
  try {
    for (const id of ids) {
      const giveBack = await borrowRun(id)
      if (giveBack) taken.set(id, giveBack)
    }
    if (taken.size > 0) await work([...taken.keys()])
  } finally {
    for (const giveBack of taken.values()) giveBack()
  }
  return ids.filter((id) => !taken.has(id))
}

/** Resolves when no tab is at work on a run any more; never in a browser without locks. */
export async function released(id: string): Promise<void> {
  const manager = locks()
  if (!manager) return new Promise(() => {})
  await manager.request(`${PREFIX}${id}`, { mode: 'shared' }, () => {})
}

/** Runs that train in some tab, this one included. */
export async function heldRuns(): Promise<ReadonlySet<string>> {
  const held =
    (
      await locks()
        ?.query()
        .catch(() => undefined)
    )?.held ?? []
  const names = held.map(({ name = '' }) => name)
  return new Set(
    names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length)),
  )
}

/** Another tab is at work on it. */
export const isHeldElsewhere = async (id: string): Promise<boolean> =>
  !own.has(id) && (await heldRuns()).has(id)
