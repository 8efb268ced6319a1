// Says which handle of the axis of steps a press takes.

export type Grabbed = 'scrubber' | 'zoom-first' | 'zoom-last'

/** Where a handle stands, in pixels from the left of the track. */
export interface Place {
  readonly id: Grabbed
  readonly at: number
  readonly width: number
}

/** The knob wins over the middle third of its handle, and between the ends of the zoom every press
 * moves the shown step. Outside of them, where their brackets are drawn, the upper half of the
 * track does so too, and the lower one takes an end that is near. */
export function handleAt(at: number, isLow: boolean, places: readonly Place[]): Grabbed {
  const knob = places.find(({ id }) => id === 'scrubber')
  if (!isLow || (knob && Math.abs(knob.at - at) <= knob.width / 3)) return 'scrubber'
  const near = places.find(({ id, at: end, width }) => {
    const outwards = id === 'zoom-first' ? end - at : at - end
    return id !== 'scrubber' && outwards >= 0 && outwards <= (2 * width) / 3
  })
  return near?.id ?? 'scrubber'
}
