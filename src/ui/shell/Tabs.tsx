// Draws the parts of the page, one at a time: what is not open is neither drawn nor measured.
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { TABS, type Tab } from '../../document/links/view.ts'
import { isLowWindow } from '../kit/use_media.ts'
import { lazyPart, Opening } from '../part/lazy_part.tsx'
import { Part } from '../part/Part.tsx'
import { selectHasRun } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { openTab, type UiState, uiStore } from '../shown/store.ts'
import { AtRest, EndCard, Record as RunRecord } from './later_parts.ts'

const IN_TAB = { name: 'This tab', fallback: <Opening /> }
/** It is open at first: its place is kept, so that nothing moves when it comes. */
const Charts = lazyPart(async () => (await import('../learning/Charts.tsx')).Charts, {
  name: 'This tab',
  fallback: (
    <div className="charts charts-awaited">
      <div className="card">
        <div className="plot-skeleton" />
      </div>
      <div className="card">
        <div className="plot-skeleton" />
      </div>
    </div>
  ),
})
const InsideTab = lazyPart(async () => (await import('../inside/InsideTab.tsx')).InsideTab, IN_TAB)
const TokensTab = lazyPart(async () => (await import('../tokens/TokensTab.tsx')).TokensTab, IN_TAB)
const RunsTab = lazyPart(async () => (await import('../runs/RunsTab.tsx')).RunsTab, IN_TAB)
const StudyTab = lazyPart(async () => (await import('../study/StudyTab.tsx')).StudyTab, IN_TAB)
const GpuTab = lazyPart(async () => (await import('../gpu/GpuTab.tsx')).GpuTab, IN_TAB)

const NAMES: Readonly<Record<Tab, { name: string; says: string }>> = {
  learn: { name: 'Learning', says: 'Reward, accuracy and the entropy of every layer' },
  inside: { name: 'Inside', says: 'What every layer does, on tokens of the run' },
  tokens: { name: 'Tokens', says: 'Responses token by token, and the step that trained on them' },
  runs: { name: 'Runs', says: 'Runs of this browser, side by side' },
  study: { name: 'Study', says: 'Several settings with several seeds, and what they prove' },
  gpu: { name: 'GPU', says: 'Memory, time and speed' },
}

const CONTENT: Readonly<Record<Tab, () => ReactNode>> = {
  learn: () => (
    <>
      <EndCard />
      <AtRest />
      <Charts />
    </>
  ),
  inside: () => (
    <>
      <AtRest />
      <InsideTab />
    </>
  ),
  tokens: () => (
    <>
      <AtRest />
      <TokensTab />
    </>
  ),
  runs: () => <RunsTab />,
  study: () => <StudyTab />,
  gpu: () => <GpuTab />,
}

const selectTab = (state: UiState) => state.tab

/** Arrow keys, Home and End move between tabs (WAI-ARIA authoring practices, tabs). */
function onKeyDown(event: KeyboardEvent<HTMLDivElement>): void {
  const index = TABS.indexOf(uiStore.getState().tab)
  const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key]
  const tab = to === undefined ? undefined : TABS.at(to % TABS.length)
  if (!tab) return
  event.preventDefault()
  openTab(tab)
  document.getElementById(`tab-${tab}`)?.focus()
}

export function TabBar() {
  const open = useStore(uiStore, selectTab)
  return (
    <div className="tabs" role="tablist" aria-label="Parts of the lab" onKeyDown={onKeyDown}>
      {TABS.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          data-testid={`tab-${tab}`}
          aria-selected={tab === open}
          aria-controls="tab-panel"
          tabIndex={tab === open ? 0 : -1}
          title={NAMES[tab].says}
          // The second press of a double click on Train: the picture above shrinks, and the tabs
          // move below the pointer.
          onClick={({ detail }) => {
            if (detail < 2) openTab(tab)
          }}
        >
          {NAMES[tab].name}
        </button>
      ))}
    </div>
  )
}

/** A tab that is opened shows its beginning: the bar above it stays where it is, or goes to the top
 * where hardly anything of the tab would be in sight, as in every low window. There a run that
 * begins shows its forest, its whole bar, so that its steps can be gone through, and its tab. */
function useBeginning(open: Tab): void {
  const hasRun = usePresent(selectHasRun)
  const before = useRef({ open, hasRun })
  useLayoutEffect(() => {
    const was = before.current
    before.current = { open, hasRun }
    const isLow = isLowWindow()
    const begins = hasRun && !was.hasRun && isLow
    if (was.open === open && !begins) return
    const [bar, place] = document.querySelectorAll('.work, #tab-panel')
    if (!place) return
    const { top } = place.getBoundingClientRect()
    // A tab that begins lower would show little of itself. On a phone the controls are below it.
    const lowest = isLow ? 0 : (innerWidth < 900 ? 0.45 : 0.6) * innerHeight
    if (top < bar.getBoundingClientRect().bottom || top > lowest)
      ((begins && document.querySelector('.forest:not(.aside)')) || place).scrollIntoView()
  }, [open, hasRun])
}

/** What is open, and how the run went; together as high as the window below the bars. */
export function TabPlace() {
  return (
    <div className="tab-place">
      <TabPanel />
      <Part name="The record of the run">
        <RunRecord />
      </Part>
    </div>
  )
}

function TabPanel() {
  const open = useStore(uiStore, selectTab)
  useBeginning(open)
  return (
    <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${open}`}>
      <Part key={open} name="This tab">
        {CONTENT[open]()}
      </Part>
    </div>
  )
}
