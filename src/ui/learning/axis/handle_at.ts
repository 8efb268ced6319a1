// Says which handle of the axis of steps a press takes.

export type Grabbed = 'scrubber' | 'zoom-first' | 'zoom-last'

/** Where a handle stands, in pixels from the left of the track. */
export interface Place {
  readonly id: Grabbed
  readonly at: number
  readonly width: number
}

/** The knob is drawn over the middle third of its handle and wins there; beside it the upper half
 * of the track moves the shown step, the lower one an end of the zoom where one is near. */
export function handleAt(at: number, isLow: boolean, places: readonly Place[]): Grabbed {
  const isWithin = (place: Place, share: number) => Math.abs(place.at - at) <= share * place.width
  const isKnob = places.some((place) => place.id === 'scrubber' && isWithin(place, 1 / 3))
  if (!isLow || isKnob) return 'scrubber'
  const near = places.find((place) => place.id !== 'scrubber' && isWithin(place, 1 / 2))
  return near?.id ?? 'scrubber'
}
