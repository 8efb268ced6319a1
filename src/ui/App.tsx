import { followHeight } from './base/page/bar_height.ts'
import { Header } from './base/page/Header.tsx'
import { Part } from './base/page/Part.tsx'
import { Tabs } from './base/page/Tabs.tsx'
import { Intro } from './learning/Intro.tsx'
import { Numbers } from './learning/Numbers.tsx'
import { Scrubber } from './learning/Scrubber.tsx'
import { Announcer } from './notices/Announcer.tsx'
import { Failure } from './notices/Failure.tsx'
import { Findings } from './notices/Findings.tsx'
import { Notices } from './notices/Notices.tsx'
import { Pending } from './notices/Pending.tsx'
import { Record } from './notices/Record.tsx'
import { Skipped } from './notices/Skipped.tsx'
import { Toast } from './notices/Toast.tsx'
import { Controls } from './palette/Controls.tsx'
import { DropTarget } from './palette/DropTarget.tsx'
import { Help } from './palette/Help.tsx'
import { Palette } from './palette/Palette.tsx'
import { Phases } from './phases/Phases.tsx'
import { Preferences } from './phases/Preferences.tsx'
import { GoingOn } from './runs/checkpoints/GoingOn.tsx'
import { Interrupted } from './runs/checkpoints/Interrupted.tsx'
import { Deleted, PastRun } from './runs/PastRun.tsx'
import { Settings } from './settings/Settings.tsx'
import { HiddenHeading } from './share/FullPage.tsx'
import { Locked } from './share/Locked.tsx'
import { Reference } from './share/Reference.tsx'

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
