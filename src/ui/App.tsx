import { Controls } from './Controls.tsx'
import { Header } from './Header.tsx'
import { Intro } from './Intro.tsx'
import { Numbers } from './Numbers.tsx'
import { Failure } from './panels/Failure.tsx'
import { Findings } from './panels/Findings.tsx'
import { Notices } from './panels/Notices.tsx'
import { Pending } from './panels/Pending.tsx'
import { Phases } from './panels/Phases.tsx'
import { Preferences } from './panels/Preferences.tsx'
import { Record } from './panels/Record.tsx'
import { Settings } from './panels/Settings.tsx'
import { Skipped } from './panels/Skipped.tsx'
import { HiddenHeading } from './share/FullPage.tsx'
import { Locked } from './share/Locked.tsx'
import { Reference } from './share/Reference.tsx'
import { Tabs } from './Tabs.tsx'
import { Toast } from './Toast.tsx'

export function App() {
  return (
    <div className="app">
      <Header />
      <Controls />
      <div className="body">
        <Settings />
        <main>
          <HiddenHeading />
          <Locked />
          <Notices />
          <Failure />
          <Pending />
          <section className="card now" aria-label="Progress">
            <Numbers />
            <Phases />
            <Intro />
          </section>
          <Reference />
          <Preferences />
          <Findings />
          <Record />
          <Skipped />
          <Tabs />
        </main>
      </div>
      <Toast />
    </div>
  )
}
