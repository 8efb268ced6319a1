// Draws the fold behind the three dots of a chart or a figure.
import { Ellipsis } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type ReactNode, useRef } from 'react'

interface MenuProps {
  readonly id: string
  /** What it holds, and of which chart. */
  readonly label: string
  readonly children: (close: () => void) => ReactNode
}

export function Menu({ id, label, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  const onBlur = (event: FocusEvent) => {
    const to = event.relatedTarget
    if (to instanceof Node && !event.currentTarget.contains(to)) close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return
    // Escape closes the menu, and not the full screen behind it.
    event.preventDefault()
    event.stopPropagation()
    close()
    menu.current.querySelector('summary')?.focus()
  }
  return (
    <details
      ref={menu}
      className="chart-menu"
      name="chart-menu"
      onBlur={onBlur}
      onKeyDown={onKeyDown}
      data-testid={`${id}-menu`}
    >
      <summary aria-label={label}>
        <Ellipsis className="icon" aria-hidden="true" />
      </summary>
      <div>{children(close)}</div>
    </details>
  )
}

interface FullScreenChoiceProps {
  readonly id: string
  readonly isFull: boolean
  readonly onFull: () => void
  readonly close: () => void
}

export function FullScreenChoice({ id, isFull, onFull, close }: FullScreenChoiceProps) {
  return (
    <button
      type="button"
      data-testid={`${id}-full-screen`}
      onClick={() => {
        close()
        onFull()
      }}
    >
      {isFull ? 'Leave full screen' : 'Full screen'}
    </button>
  )
}
