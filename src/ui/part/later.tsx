// Loads parts that the first screen has no use for: their files come when they are needed, or when
// the page has time.
import { type ComponentType, type ReactNode, useState } from 'react'
import { lazyPart } from './lazy_part.tsx'

const unloaded: (() => Promise<unknown>)[] = []

/** Loads every part, one after the other, so that none is waited for in use. One that does not come
 * is asked for when it is needed. */
async function loadParts(): Promise<void> {
  for (let load = unloaded.shift(); load; load = unloaded.shift()) await load().catch(() => {})
}

/** Loads the parts when the browser is idle for the first time. To be called once per page. */
export function loadPartsSoon(): void {
  const go = () => void loadParts()
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(go, { timeout: 4000 })
  else setTimeout(go, 1000)
}

const always = () => true

/** A part that exists from when `useIsNeeded`, a hook, first says so. What is loaded by then is
 * drawn at once; else the page has its file brought, and the place stays empty until then. */
export function later<P extends object>(
  name: string,
  load: () => Promise<ComponentType<P>>,
  useIsNeeded: () => boolean = always,
): (props: P) => ReactNode {
  let loaded: ComponentType<P> | undefined
  const bring = async () => {
    loaded ??= await load()
    return loaded
  }
  unloaded.push(bring)
  const Awaited = lazyPart(bring, { name, fallback: null })
  return function Later(props: P) {
    const isNeeded = useIsNeeded()
    // It stays the one that it began as, so that it keeps its state.
    const [Content, setContent] = useState<ComponentType<P>>()
    if (isNeeded && !Content) setContent(() => loaded ?? Awaited)
    return Content ? <Content {...props} /> : null
  }
}
