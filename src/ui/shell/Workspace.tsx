// Shows how the run is, its time axis and the tabs: one bar that stays in sight.
import { Numbers } from '../learning/Numbers.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { Phases } from '../phases/Phases.tsx'
import { selectHasRun } from '../shown/run.ts'
import { useIsPast, usePresent } from '../shown/shown.ts'
import { followHeight } from './bar_height.ts'
import { TabBar } from './Tabs.tsx'
import './workspace.css'

const PROGRESS: readonly PanelEntry[] = [{ name: 'The numbers', Panel: Numbers }]

const follow = (bar: HTMLElement | null) => (bar ? followHeight(bar, '--work-height') : undefined)

export function Workspace() {
  const hasRun = usePresent(selectHasRun)
  const isPast = useIsPast()
  const now = isPast ? 'of-past' : hasRun ? 'with-run' : 'before-run'
  return (
    <div className={`work ${now}`} data-testid="work-bar" ref={follow}>
      <section className="card now" aria-label="Progress">
        <Panels panels={PROGRESS} />
      </section>
      <Part name="The time axis">
        <Phases />
      </Part>
      <TabBar />
    </div>
  )
}
