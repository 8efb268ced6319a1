// Takes files that are dragged onto the page, or chosen anywhere on it.
import { FileDown } from 'lucide-react'
import { useEffect, useState } from 'react'
import { chosenStore } from '../../open/file_store.ts'
import { droppedFiles } from './dropped.ts'

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false

/** Opens what is dropped or chosen; while something is over the page, says so. */
export function DropTarget() {
  const [isOver, setIsOver] = useState(false)
  useEffect(() => {
    // Entering a part of the page comes before leaving the one around it.
    let depth = 0
    const move = (by: number) => (event: DragEvent) => {
      if (!hasFiles(event)) return
      depth = Math.max(0, depth + by)
      setIsOver(depth > 0)
    }
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      depth = 0
      setIsOver(false)
      if (!event.dataTransfer) return
      // What was dropped is gone when this event is over.
      const dropped = droppedFiles(event.dataTransfer)
      void import('./open_files.ts').then(async ({ openFiles }) => {
        const { files, name } = await dropped
        await openFiles(files, name)
      })
    }
    const stopOpening = chosenStore.subscribe(({ files }) => {
      void import('./open_files.ts').then(({ openFiles }) => openFiles(files))
    })
    const listeners = { dragenter: move(1), dragleave: move(-1), dragover: over, drop } as const
    for (const [name, listener] of Object.entries(listeners))
      document.addEventListener(name as keyof typeof listeners, listener)
    return () => {
      stopOpening()
      for (const [name, listener] of Object.entries(listeners))
        document.removeEventListener(name as keyof typeof listeners, listener)
    }
  }, [])
  if (!isOver) return null
  return (
    <div className="drop-target" data-testid="drop-target">
      <p>
        <FileDown className="icon" aria-hidden="true" /> Drop an experiment (JSON), a checkpoint
        (.safetensors), data to train on, a program that scores, a log or a folder to open it
      </p>
    </div>
  )
}
