// Leads from a look at a state to the figures that it filled: they are far from its button.
import { useEffect, useState } from 'react'

/** The figures of the tab that show this step now. */
const filledBy = (step: number): HTMLDetailsElement[] => [
  ...document.querySelectorAll<HTMLDetailsElement>(`#tab-panel > .figure[data-step="${step}"]`),
]

function jumpTo(figure: HTMLDetailsElement): void {
  figure.open = true
  figure.scrollIntoView()
  figure.querySelector('summary')?.focus({ preventScroll: true })
}

export function Filled({ step }: { readonly step: number }) {
  const [figures, setFigures] = useState<readonly HTMLDetailsElement[]>([])
  useEffect(() => {
    const panel = document.getElementById('tab-panel')
    if (!panel) return
    const update = () => setFigures(filledBy(step))
    const observer = new MutationObserver(update)
    const attributeFilter = ['data-step']
    observer.observe(panel, { childList: true, subtree: true, attributes: true, attributeFilter })
    update()
    return () => observer.disconnect()
  }, [step])
  if (figures.length === 0) return null
  return (
    <p className="look-filled" data-testid="look-filled">
      <span className="soft">It filled:</span>{' '}
      {figures.map((figure) => (
        <button
          key={figure.dataset.testid}
          type="button"
          className="plain setting-link"
          onClick={() => jumpTo(figure)}
        >
          {figure.querySelector('h2')?.textContent}
        </button>
      ))}
    </p>
  )
}
