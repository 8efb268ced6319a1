// Leads from a lesson to a chart of Learning.
import { openTab, showToast } from '../../shown/store.ts'

/** Frames that the tab may take to be drawn. */
const PATIENCE = 120

async function show(chart: string): Promise<void> {
  openTab('learn')
  for (let i = 0; i < PATIENCE; i++) {
    const figure = document.getElementById(`${chart}-summary`)?.closest('figure')
    if (figure) return figure.scrollIntoView({ block: 'center' })
    await new Promise(requestAnimationFrame)
  }
  showToast('The chart is drawn once the run has begun.')
}

export function ShowChart({ chart }: { readonly chart: string }) {
  return (
    <p>
      <button type="button" data-testid={`show-${chart}`} onClick={() => void show(chart)}>
        Show the chart
      </button>
    </p>
  )
}
