// The phases on a line: where the run is, and how to change what comes.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { selectIsEdited, selectLeftOut, useLab } from '../base/run.ts'
import { useBoundaryDrag } from './boundary_drag.ts'
import { PhaseItem } from './PhaseItem.tsx'
import { phaseEdits } from './phase_edits.ts'
import { TimelineTools } from './TimelineTools.tsx'
import { useTimeline } from './timeline.ts'

/** Scrolls the line, and only the line, to the phase that the run is in. */
function useScrollTo(list: RefObject<HTMLElement | null>, present: number): void {
  useEffect(() => {
    const line = list.current
    const item = line?.children[present]
    if (!line || !item || line.scrollWidth <= line.clientWidth) return
    const left = item.getBoundingClientRect().left - line.getBoundingClientRect().left
    line.scrollBy({ left: left - (line.clientWidth - item.clientWidth) / 2 })
  }, [list, present])
}

export function Phases() {
  const timeline = useTimeline()
  const { phases, is_busy, is_past } = timeline
  const list = useRef<HTMLOListElement>(null)
  const [chosen, setChosen] = useState<number>()
  const [said, setSaid] = useState('')
  const edits = phaseEdits(timeline, list, setChosen, setSaid)
  const drag = useBoundaryDrag(timeline, list, edits.lengthen)
  useScrollTo(list, timeline.present)
  const selected = chosen !== undefined && chosen < phases.length ? chosen : undefined
  return (
    <div className="timeline">
      <ol
        ref={list}
        className={drag.is_dragging ? 'phases dragged' : 'phases'}
        aria-label="Phases"
        data-testid="phases"
      >
        {phases.map((_, i) => (
          <PhaseItem
            // Two phases may be alike: their place tells them apart.
            key={i}
            timeline={timeline}
            index={i}
            edits={edits}
            drag={drag}
            is_selected={selected === i}
            onToggle={() => setChosen(selected === i ? undefined : i)}
          />
        ))}
      </ol>
      <TimelineTools timeline={timeline} edits={edits} selected={selected} onSaid={setSaid} />
      {is_busy || is_past ? null : <SettingsDiffer />}
      <p className="visually-hidden" role="status" data-testid="phases-said">
        {said}
      </p>
    </div>
  )
}

/** Says that the next run is not the one on screen. */
function SettingsDiffer() {
  const left_out = useLab(selectLeftOut)
  if (!useLab(selectIsEdited)) return null
  return (
    <p className="soft" data-testid={left_out > 0 ? 'steering-left-out' : 'settings-differ'}>
      The settings have changed since the run on screen began: <strong>Train again</strong> uses
      them as they are now
      {left_out > 0
        ? `, without the ${left_out === 1 ? 'change' : `${left_out} changes`} made by hand while it ran`
        : ''}
      .
    </p>
  )
}
