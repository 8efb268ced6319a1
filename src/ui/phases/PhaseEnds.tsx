// Draws the ends of the phases on the line, which are dragged or moved by keys.
import type { PointerEvent } from 'react'
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatSteps } from '../kit/format.ts'
import { useEditMarks } from '../plot/base/edit_marks.ts'
import { usePresent } from '../shown/shown.ts'
import { keyedSteps, type PhaseEdits } from './phase_edits.ts'
import { marksOn, PlannedMarks, placedMarks } from './planned/PlannedMarks.tsx'
import type { Line, Timeline } from './timeline.ts'

export interface PhaseEndsProps {
  readonly timeline: Timeline
  readonly line: Line
  readonly edits: PhaseEdits
  /** The phase that a person has chosen. */
  readonly selected: number | undefined
}

const selectIsToCome = ({ runExperiment }: LabState) => runExperiment === undefined

export function PhaseEnds(props: PhaseEndsProps) {
  const { timeline, line, selected } = props
  const pointer = pointerOf(props)
  const isToCome = usePresent(selectIsToCome)
  const done = useEditMarks()
  const lengths = timeline.phases.map((_, i) => timeline.lengthOf(i))
  // Settings that have left the run have nothing of what was done to it.
  const ofRun = timeline.present < 0 ? [] : marksOn(lengths, done)
  const marks = isToCome ? placedMarks(timeline.experiment) : ofRun
  return (
    <div className="phase-ends">
      {timeline.phases.map((_, i) => (
        <span
          // As in the list of phases.
          key={i}
          className={i === selected ? 'phase-end chosen' : 'phase-end'}
          style={line.widthOf(i)}
        >
          <PlannedMarks marks={marks} isDone={!isToCome} index={i} />
          {timeline.canLengthen(i) ? <End {...props} index={i} pointer={pointer} /> : null}
        </span>
      ))}
    </div>
  )
}

/** What a pointer does with an end. */
function pointerOf({ timeline, line, edits }: PhaseEndsProps) {
  const { phases, lengthOf, least } = timeline
  const { drag, setDrag } = line
  return {
    onGrab: (event: PointerEvent<HTMLElement>, index: number) => {
      const own = event.currentTarget.closest('.phase-ends')
      if (event.button !== 0 || !own) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const widths = [...own.children].map((end) => end.getBoundingClientRect().width)
      const pixelsPerStep = widths[index] / Math.max(1, lengthOf(index))
      setDrag({ index, fromX: event.clientX, widths, pixelsPerStep, steps: phases[index].steps })
    },
    onDrag: (event: PointerEvent) => {
      if (!drag) return
      const moved = (event.clientX - drag.fromX) / drag.pixelsPerStep
      const steps = Math.round(phases[drag.index].steps + moved)
      setDrag({ ...drag, steps: Math.min(MAX_STEPS, Math.max(least(drag.index), steps)) })
    },
    onDrop: () => {
      if (drag) edits.lengthen(drag.index, drag.steps)
      setDrag(undefined)
    },
    onCancel: () => setDrag(undefined),
  }
}

interface EndProps extends PhaseEndsProps {
  readonly index: number
  readonly pointer: ReturnType<typeof pointerOf>
}

function End({ timeline, index, edits, line, pointer }: EndProps) {
  const { name, steps: presentSteps } = timeline.phases[index]
  const least = timeline.least(index)
  const dragged = line.draggedSteps(index)
  const steps = dragged ?? presentSteps
  return (
    <div
      role="separator"
      tabIndex={0}
      className="phase-boundary"
      data-testid={`phase-boundary-${index}`}
      aria-orientation="vertical"
      aria-label={`End of phase ${index + 1}, ${name}`}
      aria-valuenow={steps}
      aria-valuemin={least}
      aria-valuemax={MAX_STEPS}
      aria-valuetext={formatSteps(steps)}
      title="Drag, or press the arrow keys, to make the phase longer or shorter"
      onKeyDown={(event) => {
        const wanted = keyedSteps(event, presentSteps, least)
        if (wanted === undefined) return
        edits.lengthen(index, wanted)
        event.preventDefault()
      }}
      onPointerDown={(event) => pointer.onGrab(event, index)}
      onPointerMove={pointer.onDrag}
      onPointerUp={pointer.onDrop}
      onPointerCancel={pointer.onCancel}
    >
      {dragged === undefined ? null : <output>{formatSteps(steps)}</output>}
    </div>
  )
}
