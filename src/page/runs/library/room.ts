// Asks how much room the browser gives to runs.
import { libraryStore } from './library_store.ts'

/** What the browser says of this page's storage. */
export async function measureStorage(): Promise<void> {
  const estimate = await navigator.storage?.estimate?.().catch(() => undefined)
  const { usage, quota } = estimate ?? {}
  if (usage !== undefined && quota !== undefined)
    libraryStore.setState({ storage: { usage, quota } })
}
