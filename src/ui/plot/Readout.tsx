// Writes the values under the pointer in words, without rendering; arrow keys move along
// the axis.
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { t } from '../kit/translator.ts'
import { movedTo } from '../shown/cursor.ts'
import { keepWritten } from '../shown/readout.ts'
import { writeText } from './live_text.ts'

interface Said {
  /** Where a person can stop, ascending. */
  readonly stops: ArrayLike<number>
  readonly at: number | undefined
  readonly text: string
  /** What is written, where the values are written beside it. */
  readonly written?: string
}

export interface ReadoutProps {
  readonly id: string
  /** What is moved along, e.g. 'Layer'. */
  readonly label: string
  /** Asked when the run moves on and when another step is read out; undefined while nobody sees it.
   * The same function for the same chart. */
  readonly read: () => Said | undefined
  /** undefined: back to where nobody points. */
  readonly onMove: (stop: number | undefined) => void
  /** Up and down, where there is a second axis. */
  readonly onVertical?: (by: 1 | -1) => void
}

const attributesOf = ({ stops, at, text }: Said) => ({
  'aria-valuemin': stops[0],
  'aria-valuemax': stops[stops.length - 1],
  'aria-valuenow': at ?? stops[stops.length - 1],
  'aria-valuetext': t(text),
})

export function Readout({ id, label, read, onMove, onVertical }: ReadoutProps) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let written: string | undefined
    return keepWritten(() => {
      const [element, said] = [ref.current, read()]
      if (!element || !said) return
      element.hidden = said.stops.length === 0
      const attributes = attributesOf(said)
      const stamp = JSON.stringify([attributes, said.written])
      if (stamp === written || element.hidden) return
      written = stamp
      writeText(element, t(said.written ?? said.text))
      for (const [name, value] of Object.entries(attributes))
        element.setAttribute(name, String(value))
    })
  }, [read])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { stops = [], at } = read() ?? {}
    const to = movedTo(event.key, stops, at)
    const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : undefined
    if (to !== undefined) onMove(to)
    else if (by !== undefined && onVertical) onVertical(by)
    else if (event.key === 'Escape') onMove(undefined)
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={ref}
      className="chart-readout"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuenow={0}
      title={`Arrow keys move along the axis${onVertical ? 's' : ''}; Escape clears the mark`}
      data-testid={id}
      onKeyDown={onKeyDown}
      hidden
    />
  )
}
