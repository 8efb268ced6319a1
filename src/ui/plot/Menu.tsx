// Draws the fold behind the three dots of a chart or a figure.
import { Ellipsis } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type MouseEvent, type ReactNode, useRef } from 'react'

interface MenuProps {
  readonly id: string
  /** What it holds, and of which chart. */
  readonly label: string
  readonly children: (close: () => void) => ReactNode
}

export function Menu({ id, label, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  /** Whoever chose something by key stays at the dots, also after a full screen. */
  const close = () => {
    const { current } = menu
    if (!current) return
    const hadFocus = current.contains(document.activeElement)
    current.open = false
    if (hadFocus) current.querySelector('summary')?.focus()
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
      {/* A press on words in it would give the focus to the page around, which closes the menu. */}
      <div tabIndex={-1}>{children(close)}</div>
    </details>
  )
}

export const leaveFullScreen = ({ currentTarget }: MouseEvent<HTMLElement>): void =>
  currentTarget.closest('dialog')?.close()

interface FullScreenChoiceProps {
  readonly id: string
  readonly isFull: boolean
  /** Not needed in full screen. */
  readonly onFull?: (() => void) | undefined
  readonly close: () => void
}

export function FullScreenChoice({ id, isFull, onFull, close }: FullScreenChoiceProps) {
  return (
    <button
      type="button"
      data-testid={`${id}-full-screen`}
      onClick={(event) => {
        close()
        if (isFull) leaveFullScreen(event)
        else onFull?.()
      }}
    >
      {isFull ? 'Leave full screen' : 'Full screen'}
    </button>
  )
}
