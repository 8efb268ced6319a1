// Draws the page: the bar on top, the settings beside it, and lists of panels.
import type { MouseEvent } from 'react'
import { useStore } from 'zustand'
import { DataDialog } from '../data/DataDialog.tsx'
import { FirstScreen } from '../forest/FirstScreen.tsx'
import { Announcer } from '../notices/Announcer.tsx'
import { Files } from '../notices/Files.tsx'
import { Toast } from '../notices/Toast.tsx'
import { lazyPart } from '../part/lazy_part.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { Deleted } from '../runs/Deleted.tsx'
import { RewardDialog } from '../settings/rewards/RewardDialog.tsx'
import { ToolsDialog } from '../settings/tools/ToolsDialog.tsx'
import { ExportDialog } from '../share/export/ExportDialog.tsx'
import { HiddenHeading } from '../share/FullPage.tsx'
import { uiStore } from '../shown/store.ts'
import { ModelDialog } from '../tokens/model/ModelDialog.tsx'
import { followHeight } from './bar_height.ts'
import { Header } from './Header.tsx'
import {
  ContinueOffers,
  DropTarget,
  Failure,
  Findings,
  FoundRuns,
  Glossary,
  Help,
  Interrupted,
  Lessons,
  Locked,
  NewVersion,
  Notices,
  Palette,
  PastRun,
  Pending,
  Preferences,
  PresetGallery,
  Reference,
  SettingsDiffer,
  Skipped,
} from './later_parts.ts'
import { Choice, Controls, HelpButton } from './palette/Controls.tsx'
import { TabPlace } from './Tabs.tsx'
import { Workspace } from './Workspace.tsx'

/** Beside what is seen first: asked for before anything is drawn, and its place is kept until it
 * comes. */
const loadSettings = async () => (await import('../settings/Settings.tsx')).Settings
loadSettings().catch(() => {})
const Settings = lazyPart(loadSettings, {
  name: 'The settings',
  fallback: <SettingsPlace />,
  className: 'settings card',
})

function SettingsPlace() {
  const isOpen = useStore(uiStore, ({ settings_open }) => settings_open)
  return <div className={isOpen ? 'settings card awaited' : 'settings card closed awaited'} />
}

/** Above the numbers: what the person should know first. */
const ABOVE: readonly PanelEntry[] = [
  { name: 'The past run', Own: PastRun },
  { name: 'The heading', Own: HiddenHeading },
  { name: 'The note about locks', Own: Locked },
  { name: 'The note on the new version', Own: NewVersion },
  { name: 'The notes on the link', Own: Notices },
  { name: 'The missing files', Own: Files },
  { name: 'The offer to continue', Own: ContinueOffers },
  { name: 'The error of the run', Own: Failure },
  { name: 'The note on the interruption', Own: Interrupted },
  { name: 'The changed settings', Own: Pending },
]

const BELOW: readonly PanelEntry[] = [
  { name: 'The note on changed settings', Own: SettingsDiffer },
  { name: 'The sender’s result', Own: Reference },
  { name: 'The preferences', Own: Preferences },
  { name: 'The findings', Own: Findings },
  { name: 'The note on skipped updates', Own: Skipped },
  { name: 'This tab', Own: TabPlace },
]

/** Over the page, or heard and not seen. */
const OVERLAYS: readonly PanelEntry[] = [
  { name: 'The note on deleted runs', Own: Deleted },
  { name: 'The message', Own: Toast },
  { name: 'The spoken message', Own: Announcer },
  { name: 'The list of commands', Own: Palette },
  { name: 'The help', Own: Help },
  { name: 'The glossary', Own: Glossary },
  { name: 'The runs to import', Own: FoundRuns },
  { name: 'The presets', Own: PresetGallery },
  { name: 'The export', Own: ExportDialog },
  { name: 'The opened model', Own: ModelDialog },
  { name: 'The reward', Own: RewardDialog },
  { name: 'The tools', Own: ToolsDialog },
  { name: 'The data', Own: DataDialog },
  { name: 'The target for files', Own: DropTarget },
]

/** Without a change of the address: what is behind its # says what is shown. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

const follow = (bar: HTMLElement | null) => (bar ? followHeight(bar, '--bar-height') : undefined)

export function App() {
  return (
    <div className="app">
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to a place of the page, as a link does; the handler spares the hash. */}
      <a className="skip-link" href="#main" onClick={skipToMain}>
        Skip to the run
      </a>
      <Part name="The head of the page">
        <Header />
      </Part>
      <section className="bar" aria-label="The experiment" ref={follow}>
        <Part name="The experiment">
          <Choice />
        </Part>
        <Part name="The controls">
          <Controls />
        </Part>
        <Part name="The list of keys">
          <HelpButton />
        </Part>
      </section>
      <div className="body">
        <Part name="The lessons">
          <Lessons />
        </Part>
        <Part name="The settings">
          <Settings />
        </Part>
        <main id="main" tabIndex={-1}>
          <Panels panels={ABOVE} />
          <Part name="The picture">
            <FirstScreen />
          </Part>
          <Part name="The run">
            <Workspace />
          </Part>
          <Panels panels={BELOW} />
        </main>
      </div>
      <Panels panels={OVERLAYS} />
    </div>
  )
}
