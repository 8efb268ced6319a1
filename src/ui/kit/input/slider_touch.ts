// Keeps the value of a slider while a finger on it may mean to scroll the page: browsers set it
// where the finger comes down.

/** CSS pixels after which a finger has a direction. */
const SLOP = 8

const SET_VALUE = Object.getOwnPropertyDescriptor(
  globalThis.HTMLInputElement?.prototype ?? {},
  'value',
)?.set

interface Touch {
  readonly slider: HTMLInputElement
  readonly pointerId: number
  readonly x: number
  readonly y: number
  /** The value before the finger came. */
  readonly before: string
  /** The value under the finger, once the slider took it. */
  wanted: string | undefined
  /** Whether it scrolls the page; undefined while that is not known. */
  scrolls: boolean | undefined
}

/** Which way a finger went: undefined while it is where it came down. */
export function scrollsPage(dx: number, dy: number): boolean | undefined {
  return Math.hypot(dx, dy) < SLOP ? undefined : Math.abs(dy) > Math.abs(dx)
}

let touch: Touch | undefined

const isSlider = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.type === 'range'

function onDown({ target, pointerType, pointerId, clientX: x, clientY: y }: PointerEvent): void {
  touch = undefined
  if (pointerType === 'mouse' || !isSlider(target)) return
  touch = {
    slider: target,
    pointerId,
    x,
    y,
    before: target.value,
    wanted: undefined,
    scrolls: undefined,
  }
}

/** The value that the slider took is taken back, unseen, until the finger says what it means. */
function onInput(event: Event): void {
  if (!touch || event.target !== touch.slider || touch.scrolls === false) return
  event.stopImmediatePropagation()
  const { slider, before } = touch
  touch.wanted = slider.value
  slider.value = before
}

function onMove({ pointerId, clientX, clientY }: PointerEvent): void {
  if (touch?.pointerId === pointerId)
    touch.scrolls ??= scrollsPage(clientX - touch.x, clientY - touch.y)
}

/** A tap means the value under it. */
function onUp({ pointerId }: PointerEvent): void {
  if (touch?.pointerId !== pointerId) return
  const { slider, wanted, scrolls } = touch
  touch = undefined
  if (scrolls !== undefined || wanted === undefined) return
  // Past React's own setter, which would take it for known.
  SET_VALUE?.call(slider, wanted)
  slider.dispatchEvent(new Event('input', { bubbles: true }))
}

/** The browser scrolls. */
function onCancel({ pointerId }: PointerEvent): void {
  if (touch?.pointerId === pointerId) touch = undefined
}

/** For all sliders of the page; a mouse and keys set them as ever. */
export function guardSliders(): void {
  addEventListener('pointerdown', onDown, true)
  addEventListener('pointermove', onMove, true)
  addEventListener('pointerup', onUp, true)
  addEventListener('pointercancel', onCancel, true)
  addEventListener('input', onInput, true)
}
