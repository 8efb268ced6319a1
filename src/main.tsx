// Puts the page together: theme, redraw clock, lab, React.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { openLab } from './lab/client.ts'
import { App } from './ui/App.tsx'
import { keepHistory } from './ui/history.ts'
import { followTheme } from './ui/store.ts'
import { startTicker } from './ui/ticker.ts'
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
import './ui/tabs.css'
import './ui/palette/palette.css'
import './ui/charts.css'

followTheme()
startTicker()
openLab()
keepHistory()

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
