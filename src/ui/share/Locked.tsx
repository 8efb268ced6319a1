// Says that the page's link hides or locks something, with the way out.
import { Lock } from 'lucide-react'
import { useStore } from 'zustand'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import { HIDDEN, LOCKED, listWords } from './names.ts'
import { unlock } from './page_view.ts'

const selectOptions = (state: ShareState) => state.options

export function Locked() {
  const { hide, lock } = useStore(shareStore, selectOptions)
  if (hide.length === 0 && lock.length === 0) return null
  const locked = listWords(lock.map((part) => LOCKED[part]))
  const hidden = listWords(hide.map((part) => HIDDEN[part]))
  const says =
    hidden === ''
      ? `locks ${locked}`
      : locked === ''
        ? `hides ${hidden}`
        : `locks ${locked} and hides ${hidden}`
  return (
    <section className="card locked" aria-label="This page’s link" data-testid="locked">
      <Lock className="icon" aria-hidden="true" />
      <p>The link that opened this page {says}.</p>
      <button
        type="button"
        data-testid="unlock"
        title="Reloads the page without that; a run on this page ends"
        onClick={unlock}
      >
        Unlock
      </button>
    </section>
  )
}
