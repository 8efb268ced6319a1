import { Announcer } from './Announcer.tsx'
import { followHeight } from './bar_height.ts'
import { Controls } from './Controls.tsx'
import { GoingOn } from './checkpoints/GoingOn.tsx'
import { Interrupted } from './checkpoints/Interrupted.tsx'
import { Header } from './Header.tsx'
import { Intro } from './Intro.tsx'
import { Numbers } from './Numbers.tsx'
import { Part } from './Part.tsx'
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
      <Part name="The head of the page">
        <Header />
      </Part>
      <div className="bar" ref={(bar) => (bar ? followHeight(bar) : undefined)}>
        <Part name="The controls">
          <Controls />
        </Part>
        <Part name="The bar of steps">
          <Scrubber />
        </Part>
      </div>
      <div className="body">
        <Part name="The settings">
          <Settings />
        </Part>
        <main>
          <Part name="The past run">
            <PastRun />
          </Part>
          <Part name="The heading">
            <HiddenHeading />
          </Part>
          <Part name="The note about locks">
            <Locked />
          </Part>
          <Part name="The notes on the link">
            <Notices />
          </Part>
          <Part name="The offer to go on">
            <GoingOn />
          </Part>
          <Part name="The error of the run">
            <Failure />
          </Part>
          <Part name="The note on the interruption">
            <Interrupted />
          </Part>
          <Part name="The changed settings">
            <Pending />
          </Part>
          <section className="card now" aria-label="Progress">
            <Part name="The numbers">
              <Numbers />
            </Part>
            <Part name="The line of phases">
              <Phases />
            </Part>
            <Part name="The introduction">
              <Intro />
            </Part>
          </section>
          <Part name="The sender’s result">
            <Reference />
          </Part>
          <Part name="The preferences">
            <Preferences />
          </Part>
          <Part name="The findings">
            <Findings />
          </Part>
          <Part name="The note on skipped updates">
            <Skipped />
          </Part>
          <Part name="The tabs">
            <Tabs />
          </Part>
          <Part name="The record of the run">
            <Record />
          </Part>
        </main>
      </div>
      <Part name="The note on deleted runs">
        <Deleted />
      </Part>
      <Part name="The message">
        <Toast />
      </Part>
      <Part name="The spoken message">
        <Announcer />
      </Part>
      <Part name="The list of commands">
        <Palette />
      </Part>
      <Part name="The help">
        <Help />
      </Part>
      <Part name="The target for files">
        <DropTarget />
      </Part>
    </div>
  )
}
