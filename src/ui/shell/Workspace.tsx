// Shows how the run is, its time axis and the tabs: below one another before a run, one bar that
// stays in sight while there is one.

import { Intro } from '../learning/Intro.tsx'
import { Numbers } from '../learning/Numbers.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { Phases } from '../phases/Phases.tsx'
import { selectHasRun } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { followHeight } from './bar_height.ts'
import { TabBar } from './Tabs.tsx'
import './workspace.css'

const PROGRESS: readonly PanelEntry[] = [
  { name: 'The numbers', Panel: Numbers },
  { name: 'The introduction', Own: Intro },
]

const follow = (bar: HTMLElement | null) => (bar ? followHeight(bar, '--work-height') : undefined)

export function Workspace() {
  const has_run = usePresent(selectHasRun)
  return (
    <div className={has_run ? 'work with-run' : 'work'} data-testid="work-bar" ref={follow}>
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
