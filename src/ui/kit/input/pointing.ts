// Follows what points at a place: a mouse while it is over it, a finger along it or by a tap. What
// a finger has read stays until the next tap elsewhere, because it does not hover.
import type { PointerEvent } from 'react'
import { scrollsPage } from './slider_touch.ts'

interface Finger {
  readonly x: number
  readonly y: number
  /** Undefined until it has a direction. */
  scrolls: boolean | undefined
}

let finger: Finger | undefined
let held: AbortController | undefined

/** Ends what was held before, and this with a tap elsewhere. */
function hold(place: Element, leave: () => void): void {
  held?.abort()
  const own = new AbortController()
  held = own
  own.signal.addEventListener('abort', leave)
  const onTap = ({ target }: Event) => {
    if (!place.contains(target as Node)) own.abort()
  }
  document.addEventListener('click', onTap, { capture: true, signal: own.signal })
}

/** What an element that is read by pointing listens to: `point` is called where it is pointed at,
 * `leave` when nothing points at it any more. A finger that scrolls the page points at nothing. */
export function pointing<T extends Element>(
  point: (event: PointerEvent<T>) => void,
  leave: () => void,
) {
  return {
    onPointerDown: ({ clientX: x, clientY: y }: PointerEvent<T>) => {
      finger = { x, y, scrolls: undefined }
    },
    onPointerMove: (event: PointerEvent<T>) => {
      if (event.pointerType === 'touch' && finger) {
        finger.scrolls ??= scrollsPage(event.clientX - finger.x, event.clientY - finger.y)
        if (finger.scrolls !== false) return
      }
      point(event)
    },
    onPointerUp: (event: PointerEvent<T>) => {
      if (event.pointerType !== 'touch') return
      hold(event.currentTarget, leave)
      point(event)
    },
    onPointerLeave: (event: PointerEvent<T>) => {
      if (event.pointerType !== 'touch') leave()
    },
    onPointerCancel: () => {
      if (finger?.scrolls === false) leave()
    },
  }
}
