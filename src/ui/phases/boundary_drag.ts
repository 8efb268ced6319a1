// Drags the end of a phase along the line.
import { type PointerEvent, type RefObject, useState } from 'react'
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'
import { phaseShares } from '../scales/step_scale.ts'
import { useEqualPhases } from '../shown/run.ts'
import { segmentsOf } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

interface Drag {
  readonly index: number
  readonly fromX: number
  readonly widths: readonly number[]
  readonly pixelsPerStep: number
  readonly steps: number
}

/** `onLengthen` is called where a boundary is dropped. */
export function useBoundaryDrag(
  { phases, lengthOf, least }: Timeline,
  list: RefObject<HTMLElement | null>,
  onLengthen: (index: number, steps: number) => void,
) {
  const [drag, setDrag] = useState<Drag>()
  const lengths = phases.map((_, i) => lengthOf(i))
  const shares = phaseShares(lengths, useEqualPhases())
  return {
    is_dragging: drag !== undefined,
    /** Steps that a phase would have where its boundary is now; undefined for all others. */
    stepsOf: (index: number) => (drag?.index === index ? drag.steps : undefined),
    /** While a boundary is dragged the others stay where they are. */
    widthOf: (index: number) => {
      if (!drag) return { flexGrow: shares[index] }
      const more = index === drag.index ? drag.steps - phases[index].steps : 0
      return { flex: `0 0 ${Math.max(8, drag.widths[index] + more * drag.pixelsPerStep)}px` }
    },
    onGrab: (event: PointerEvent<HTMLElement>, index: number) => {
      if (event.button !== 0 || !list.current) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const widths = segmentsOf(list.current).map((segment) => segment.offsetWidth)
      setDrag({
        index,
        fromX: event.clientX,
        widths,
        pixelsPerStep: widths[index] / Math.max(1, lengthOf(index)),
        steps: phases[index].steps,
      })
    },
    onDrag: (event: PointerEvent) => {
      if (!drag) return
      const moved = (event.clientX - drag.fromX) / drag.pixelsPerStep
      const steps = Math.round(phases[drag.index].steps + moved)
      setDrag({ ...drag, steps: Math.min(MAX_STEPS, Math.max(least(drag.index), steps)) })
    },
    onDrop: () => {
      if (drag) onLengthen(drag.index, drag.steps)
      setDrag(undefined)
    },
    onCancel: () => setDrag(undefined),
  }
}

export type BoundaryDrag = ReturnType<typeof useBoundaryDrag>
