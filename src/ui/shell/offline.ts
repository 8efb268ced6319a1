// Keeps the page usable without a server: its service worker keeps one whole build
// (vite.config.ts), and this says when a later one waits.
import { versionStore } from '../part/new_version.ts'

/** Between two looks for a new version. A page that trains stays open for days. */
const LOOK_MS = 3_600_000

/** Has this build kept for the next visit. To be called when the page is there; without a service
 * worker nothing changes. */
export async function keepOffline(): Promise<void> {
  const { serviceWorker } = navigator
  // There is none on an address that is not secure.
  if (!serviceWorker) return
  const isKept = serviceWorker.controller !== null
  const announce = () => versionStore.setState({ isReady: true })
  // Another tab has loaded the new version: parts of this one can be gone.
  if (isKept) serviceWorker.addEventListener('controllerchange', announce)
  const registration = await serviceWorker.register(new URL('sw.js', document.baseURI))
  const follow = (worker: ServiceWorker | null) => {
    const look = () => {
      if (worker?.state === 'installed' && serviceWorker.controller) announce()
    }
    worker?.addEventListener('statechange', look)
    look()
  }
  follow(registration.waiting)
  follow(registration.installing)
  registration.addEventListener('updatefound', () => follow(registration.installing))
  setInterval(() => void registration.update().catch(() => {}), LOOK_MS)
}
