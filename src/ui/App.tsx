import { Charts } from './Charts.tsx'
import { Controls } from './Controls.tsx'
import { Header } from './Header.tsx'
import { Intro } from './Intro.tsx'
import { Numbers } from './Numbers.tsx'
import { Failure } from './panels/Failure.tsx'
import { Findings } from './panels/Findings.tsx'
import { Memory } from './panels/Memory.tsx'
import { Notices } from './panels/Notices.tsx'
import { Pending } from './panels/Pending.tsx'
import { Phases } from './panels/Phases.tsx'
import { Preferences } from './panels/Preferences.tsx'
import { Profiler } from './panels/Profiler.tsx'
import { Record } from './panels/Record.tsx'
import { Settings } from './panels/Settings.tsx'
import { Skipped } from './panels/Skipped.tsx'
import { Stages } from './panels/Stages.tsx'
import { SuggestedLayer } from './panels/SuggestedLayer.tsx'
import { Toast } from './Toast.tsx'

export function App() {
  return (
    <div className="app">
      <Header />
      <Controls />
      <div className="body">
        <Settings />
        <main>
          <Notices />
          <Failure />
          <Pending />
          <section className="card now" aria-label="Progress">
            <Numbers />
            <Phases />
            <Intro />
          </section>
          <Preferences />
          <Findings />
          <Record />
          <Skipped />
          <Charts />
          <SuggestedLayer />
          <Stages />
          <Memory />
          <Profiler />
        </main>
      </div>
      <Toast />
    </div>
  )
}
