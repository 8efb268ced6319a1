// Remembers preferences of this browser from one visit to the next. Storage may be off, full, or
// hold something else: then nothing is remembered.
import type * as z from 'zod/mini'

export interface Remembered<T> {
  /** What is remembered now, as another tab may have left it; the fallback where there is nothing
   * of this kind. */
  get(): T
  /** Without effect where storage is off or full: the choice lasts as long as the page. */
  set(value: T): void
  forget(): void
}

const PREFIX = 'understory.'

function attempt<T>(what: () => T): T | undefined {
  try {
    return what()
  } catch {
    return undefined
  }
}

/** A value under a name of its own, kept as JSON and read back by its schema. Fields in `z.catch`
 * fall back one by one, so that one that is not sound takes no other with it. */
export function remembered<T>(
  name: string,
  schema: z.ZodMiniType<T>,
  fallback: NoInfer<T>,
): Remembered<T> {
  const key = `${PREFIX}${name}`
  return {
    get: () => {
      const read = schema.safeParse(
        attempt<unknown>(() => JSON.parse(localStorage.getItem(key) ?? '')),
      )
      return read.success ? read.data : fallback
    },
    set: (value) => attempt(() => localStorage.setItem(key, JSON.stringify(value))),
    forget: () => attempt(() => localStorage.removeItem(key)),
  }
}
