// Puts the page together: theme, redraw clock, lab, React.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { openLab } from './lab/client.ts'
import { startRecording } from './lab/runs/record_page.ts'
import { App } from './ui/App.tsx'
import { offerLeft } from './ui/checkpoints/going_on.ts'
import { keepHistory } from './ui/history.ts'
import { Part } from './ui/Part.tsx'
import { followRefusals } from './ui/refusals.ts'
import { rememberErrors } from './ui/report.ts'
import { followTicks } from './ui/runs/compared.ts'
import { followNewRuns } from './ui/runs/opened.ts'
import { startScrubbing } from './ui/scrub.ts'
import { FrameGate } from './ui/share/FrameGate.tsx'
import { followView } from './ui/share/page_view.ts'
import { followTheme } from './ui/store.ts'
import { startTicker } from './ui/ticker.ts'
import { followVisibility } from './ui/visible.ts'
import { followWakeLock } from './ui/wake_lock.ts'
import './ui/tokens.css'
import './ui/base.css'
import './ui/layout.css'
import './ui/panels.css'
import './ui/preferences.css'
import './ui/phases.css'
import './ui/profiler.css'
import './ui/settings.css'
import './ui/findings.css'
import './ui/stages.css'
import './ui/suggested.css'
import './ui/runs.css'
import './ui/checkpoints.css'
import './ui/tabs.css'
import './ui/lazy_part.css'
import './ui/palette/palette.css'
import './ui/charts.css'
import './ui/share/share.css'

rememberErrors()
followTheme()
startTicker()
startScrubbing()
openLab()
followVisibility()
offerLeft()
void startRecording()
followNewRuns()
followTicks()
keepHistory()
followView()
followRefusals()
followWakeLock()

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <Part name="This page">
        <FrameGate>
          <App />
        </FrameGate>
      </Part>
    </StrictMode>,
  )
