// Opens files that are dropped onto the page, or chosen anywhere on it.
import { chosenStore } from '../../open/file_store.ts'

export const hasFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes('Files') ?? false

/** Takes files from now on: what is dropped before this is called, the browser shows in place of
 * the page. */
export function takeFiles(): void {
  document.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault()
  })
  document.addEventListener('drop', (event) => {
    if (!event.dataTransfer || !hasFiles(event)) return
    event.preventDefault()
    // The browser's own lists are empty when this event is over.
    const files = [...event.dataTransfer.files]
    const entries = [...event.dataTransfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? [])
    void import('./open_files.ts').then(({ openDropped }) => openDropped(files, entries))
  })
  chosenStore.subscribe(({ files }) => {
    void import('./open_files.ts').then(({ openFiles }) => openFiles(files))
  })
}
