// Puts the page together: theme, redraw clock, lab, React.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { useStore } from 'zustand'
import { openLab } from './page/client/lab.ts'
import { libraryStore } from './page/runs/library/library_store.ts'
import { leaveReloaded } from './ui/kit/way_back.ts'
import { languageStore, startLanguage } from './ui/language/language.ts'
import { followRefusals } from './ui/notices/refusals.ts'
import { followNewRuns } from './ui/open/opened_run.ts'
import { startScrubbing } from './ui/open/scrub.ts'
import { loadPartsSoon } from './ui/part/later.tsx'
import { Part } from './ui/part/Part.tsx'
import { rememberErrors } from './ui/part/report.ts'
import { FrameGate } from './ui/share/FrameGate.tsx'
import { followView } from './ui/share/page_view.ts'
import { App } from './ui/shell/App.tsx'
import { takeFiles } from './ui/shell/palette/take_files.ts'
import { followTheme } from './ui/shown/store.ts'
import { startTicker } from './ui/shown/ticker.ts'
import { followVisibility } from './ui/shown/visible.ts'
import './ui/kit/tokens.css'
import './ui/kit/base.css'
import './ui/shell/layout.css'
import './ui/part/panels.css'
import './ui/phases/preferences.css'
import './ui/phases/phases.css'
import './ui/gpu/profiler.css'
import './ui/settings/settings.css'
import './ui/notices/findings.css'
import './ui/tokens/stages.css'
import './ui/inside/suggested/suggested.css'
import './ui/runs/runs.css'
import './ui/runs/checkpoints/checkpoints.css'
import './ui/shell/tabs.css'
import './ui/part/lazy_part.css'
import './ui/shell/palette/palette.css'
import './ui/learning/charts.css'
import './ui/share/share.css'
import './ui/shell/fingers.css'
import './ui/shell/forced_colors.css'

/** Keeps what edits can be undone, lists runs, records them, compares them, keeps the screen awake
 * and fingers that scroll from setting sliders: nothing of it is seen at first. */
async function keepRuns(): Promise<void> {
  try {
    const [
      { keepHistory },
      { startRecording },
      { offerLeft },
      { followTicks },
      { followPaces },
      { followWakeLock },
      { continueStudy },
      { guardSliders },
    ] = await Promise.all([
      import('./ui/settings/history.ts'),
      import('./page/runs/library/record_page.ts'),
      import('./ui/runs/checkpoints/continue_run.ts'),
      import('./ui/runs/base/compared.ts'),
      import('./page/paces/kept_paces.ts'),
      import('./ui/notices/wake_lock.ts'),
      import('./page/study/continue_study.ts'),
      import('./ui/kit/input/slider_touch.ts'),
    ])
    guardSliders()
    keepHistory()
    void startRecording()
    offerLeft()
    followTicks()
    followPaces()
    followWakeLock()
    continueStudy()
  } catch {
    const problem =
      'The part of this page that keeps runs and edits could not be loaded: reload the page.'
    libraryStore.setState({ isReady: true, problem })
  }
}

rememberErrors()
followTheme()
startTicker()
startScrubbing()
openLab()
leaveReloaded()
followVisibility()
void keepRuns()
followNewRuns()
followView()
followRefusals()
takeFiles()

/** In another language everything is drawn anew. */
function Page() {
  const { language } = useStore(languageStore)
  return (
    <Part name="This page" key={language}>
      <FrameGate>
        <App />
      </FrameGate>
    </Part>
  )
}

const root = document.getElementById('root')
startLanguage(() => {
  if (root)
    createRoot(root).render(
      <StrictMode>
        <Page />
      </StrictMode>,
    )
  loadPartsSoon()
})
// A server of sources has no service worker, and an article that holds the page in a frame is no
// visit to keep it for.
if (import.meta.env.PROD && parent === window)
  addEventListener('load', () => {
    const keep = async () => (await import('./ui/shell/offline.ts')).keepOffline()
    // Whatever is wrong with it: the page works as without one.
    keep().catch(() => {})
  })
