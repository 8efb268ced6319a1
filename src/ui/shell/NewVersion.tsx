// Offers to load a new version of the page.
import { RefreshCw, X } from 'lucide-react'
import { useStore } from 'zustand'
import { useReloadWords } from '../part/lazy_part.tsx'
import { reloadKept, versionStore } from '../part/new_version.ts'

/** A new version is on this machine. The page stays the old one, whole, until the person asks for
 * the new one. */
export function NewVersion() {
  const isReady = useStore(versionStore, (state) => state.isReady)
  const words = useReloadWords()
  if (!isReady) return null
  return (
    <section className="card notices" aria-label="New version" data-testid="version-ready">
      <p role="status">
        <RefreshCw className="icon" aria-hidden="true" /> A new version is ready.{words}
      </p>
      <span>
        <button type="button" data-testid="load-version" onClick={() => void reloadKept()}>
          Load the new version
        </button>
        <button
          type="button"
          className="plain"
          aria-label="Dismiss the new version"
          onClick={() => versionStore.setState({ isReady: false })}
        >
          <X className="icon" aria-hidden="true" />
        </button>
      </span>
    </section>
  )
}
