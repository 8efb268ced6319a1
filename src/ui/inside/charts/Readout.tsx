// The values under the pointer, in words; arrow keys move along the axis.
import type { KeyboardEvent } from 'react'
import { movedTo } from '../../shown/cursor.ts'

export interface ReadoutProps {
  /** What is moved along, e.g. 'Layer'. */
  readonly label: string
  readonly stops: readonly number[]
  readonly at: number | undefined
  /** undefined: back to where nobody points. */
  readonly onMove: (stop: number | undefined) => void
  readonly text: string
  readonly id: string
  /** Up and down, where there is a second axis. */
  readonly onVertical?: (by: 1 | -1) => void
}

export function Readout({ label, stops, at, onMove, text, id, onVertical }: ReadoutProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = movedTo(event.key, stops, at)
    const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : undefined
    if (to !== undefined) onMove(to)
    else if (by !== undefined && onVertical) onVertical(by)
    else if (event.key === 'Escape') onMove(undefined)
    else return
    event.preventDefault()
  }
  if (stops.length === 0) return null
  return (
    <div
      className="figure-readout"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={stops[0]}
      aria-valuemax={stops[stops.length - 1]}
      aria-valuenow={at ?? stops[stops.length - 1]}
      aria-valuetext={text}
      title={`Arrow keys move along the axis${onVertical ? 's' : ''}; Escape clears the mark`}
      data-testid={id}
      onKeyDown={onKeyDown}
    >
      {text}
    </div>
  )
}
