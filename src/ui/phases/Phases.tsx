// Draws the time axis: the phases on a line, where the run is, how to change what comes, and below
// it the steps that the page shows.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { lazyPart } from '../part/lazy_part.tsx'
import { selectHasRun } from '../shown/run.ts'
import { useAtStep, usePresent } from '../shown/shown.ts'
import { PhaseFills, PhaseItem } from './PhaseItem.tsx'
import { phaseEdits } from './phase_edits.ts'
import '../learning/axis/axis.css'
import { showPhase } from '../open/wanted.ts'
import { TimelineTools } from './TimelineTools.tsx'
import { usePhaseLine, useTimeline } from './timeline.ts'

/** Scrolls the line, and only the line, to the phase that the run is in. */
function useScrollTo(list: RefObject<HTMLElement | null>, present: number): void {
  useEffect(() => {
    const line = list.current?.closest('.axis-scroll')
    const item = list.current?.children[present]
    if (!line || !item || line.scrollWidth <= line.clientWidth) return
    const left = item.getBoundingClientRect().left - line.getBoundingClientRect().left
    line.scrollBy({ left: left - (line.clientWidth - item.clientWidth) / 2 })
  }, [list, present])
}

/** Milliseconds after which what was said of a change is no news any more. */
const SAID_MS = 10_000

/** What happened last, for people who do not see it. */
function useSaid(): readonly [said: string, setSaid: (said: string) => void] {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  return [said, setSaid]
}

/** A run that has taken a step has them. */
const StepTrack = lazyPart(async () => (await import('../learning/axis/StepTrack.tsx')).StepTrack, {
  name: 'The axis of steps',
  fallback: null,
})
const StepTools = lazyPart(async () => (await import('../learning/axis/StepTools.tsx')).StepTools, {
  name: 'The tools of the steps',
  fallback: null,
})

/** Seen before it is needed. */
const PhaseEnds = lazyPart(async () => (await import('./PhaseEnds.tsx')).PhaseEnds, {
  name: 'The ends of the phases',
  fallback: null,
})

/** Pixels for each phase; a line that has less room scrolls. */
const PHASE_ROOM = 28

export function Phases() {
  const timeline = useTimeline()
  const { phases } = timeline
  const list = useRef<HTMLOListElement>(null)
  const [chosen, setChosen] = useState<number>()
  const [said, setSaid] = useSaid()
  const edits = phaseEdits(timeline, list, setChosen, setSaid)
  const line = usePhaseLine(timeline)
  useScrollTo(list, timeline.present)
  // Before a run the shown step is one of the recording, and the line is of the run to come.
  const hasRun = usePresent(selectHasRun)
  const isBack = useAtStep() !== undefined && hasRun
  const selected = (chosen ?? 0) < phases.length ? chosen : undefined
  return (
    <>
      <section
        className={`card time-axis${isBack ? ' back' : ''}`}
        aria-label="Time axis"
        data-testid="time-axis"
      >
        <div className="axis-scroll">
          <div className="phase-line" style={{ minWidth: phases.length * PHASE_ROOM }}>
            <ol
              ref={list}
              className={line.drag ? 'phases dragged' : 'phases'}
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
                  line={line}
                  isSelected={selected === i}
                  onToggle={() => {
                    setChosen(selected === i ? undefined : i)
                    if (selected !== i) showPhase(i)
                  }}
                />
              ))}
            </ol>
            <PhaseFills timeline={timeline} line={line} />
            <PhaseEnds timeline={timeline} line={line} edits={edits} selected={selected} />
            <StepTrack timeline={timeline} />
          </div>
        </div>
        <StepTools />
      </section>
      <div className="timeline">
        <TimelineTools
          timeline={timeline}
          edits={edits}
          selected={selected}
          onLeave={() => setChosen(undefined)}
          onSaid={setSaid}
        />
        <p className="visually-hidden" role="status" data-testid="phases-said">
          {said}
        </p>
      </div>
    </>
  )
}
