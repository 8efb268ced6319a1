import { Announcer } from './Announcer.tsx'
import { Controls } from './Controls.tsx'
import { GoingOn } from './checkpoints/GoingOn.tsx'
import { Interrupted } from './checkpoints/Interrupted.tsx'
import { Header } from './Header.tsx'
import { Intro } from './Intro.tsx'
import { Numbers } from './Numbers.tsx'
import { DropTarget } from './palette/DropTarget.tsx'
import { Help } from './palette/Help.tsx'
import { Palette } from './palette/Palette.tsx'
import { Failure } from './panels/Failure.tsx'
import { Findings } from './panels/Findings.tsx'
import { Notices } from './panels/Notices.tsx'
import { Pending } from './panels/Pending.tsx'
import { Phases } from './panels/Phases.tsx'
import { Preferences } from './panels/Preferences.tsx'
import { Record } from './panels/Record.tsx'
import { Settings } from './panels/Settings.tsx'
import { Skipped } from './panels/Skipped.tsx'
import { Deleted, PastRun } from './runs/PastRun.tsx'
import { Scrubber } from './Scrubber.tsx'
import { HiddenHeading } from './share/FullPage.tsx'
import { Locked } from './share/Locked.tsx'
import { Reference } from './share/Reference.tsx'
import { Tabs } from './Tabs.tsx'
import { Toast } from './Toast.tsx'

export function App() {
  return (
    <div className="app">
      <Header />
      <div className="bar">
        <Controls />
        <Scrubber />
      </div>
      <div className="body">
        <Settings />
        <main>
          <PastRun />
          <HiddenHeading />
          <Locked />
          <Notices />
          <GoingOn />
          <Failure />
          <Interrupted />
          <Pending />
          <section className="card now" aria-label="Progress">
            <Numbers />
            <Phases />
            <Intro />
          </section>
          <Reference />
          <Preferences />
          <Findings />
          <Skipped />
          <Tabs />
          <Record />
        </main>
      </div>
      <Deleted />
      <Toast />
      <Announcer />
      <Palette />
      <Help />
      <DropTarget />
    </div>
  )
}
