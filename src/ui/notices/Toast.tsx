// Shows the newest short message.
import { useEffect } from 'react'
import { useStore } from 'zustand'
import { showToast, type UiState, uiStore } from '../shown/store.ts'

const SHOWN_MS = 6000
const selectToast = (state: UiState) => state.toast

/** The newest short message; the region stays, so that screen readers hear it change. */
export function Toast() {
  const toast = useStore(uiStore, selectToast)
  useEffect(() => {
    if (toast === '') return
    const timer = setTimeout(() => showToast(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [toast])
  return (
    <div className="toast" role="status" data-testid="toast" data-shown={toast !== ''}>
      {toast}
    </div>
  )
}
