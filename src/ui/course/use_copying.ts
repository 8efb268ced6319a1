// Copies a text to the clipboard; where the browser forbids it, the text is selected.
import { useRef } from 'react'
import { showToast } from '../shown/store.ts'

export function useCopying() {
  const field = useRef<HTMLTextAreaElement>(null)
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text)
      showToast(`${what} copied.`)
    } catch {
      field.current?.select()
      showToast('The browser does not allow copying. The text is selected: copy it by hand.')
    }
  }
  return { field, copy }
}
