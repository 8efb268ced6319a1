// Says what can be dropped while files are dragged over the page.
import { FileDown } from 'lucide-react'
import { useEffect, useState } from 'react'
import { hasFiles } from './take_files.ts'

/** take_files.ts opens what is dropped. */
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
    const end = () => {
      depth = 0
      setIsOver(false)
    }
    const listeners = { dragenter: move(1), dragleave: move(-1), drop: end } as const
    for (const [name, listener] of Object.entries(listeners))
      document.addEventListener(name as keyof typeof listeners, listener)
    return () => {
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
