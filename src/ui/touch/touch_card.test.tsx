import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { TouchCard } from './TouchCard.tsx'

test('a folded card names the button that measures, which opening does not', () => {
  const card = (says: string | undefined) =>
    renderToStaticMarkup(
      <TouchCard
        {...{ id: 'probes', title: 'Which layer knows it?', what: 'probes', record: 'r', says }}
        note="A classifier is fitted. It misleads."
        action="Fit probes"
        onStart={() => {}}
        choices={null}
      >
        {null}
      </TouchCard>,
    )
  const summary = (says: string | undefined) => /<summary>.*<\/summary>/.exec(card(says))?.[0]
  expect(summary(undefined)).toContain('press “Fit probes” to measure it')
  expect(card(undefined)).toContain('>Fit probes</button>')
  expect(summary('Layer 2 tells it.')).not.toContain('Fit probes')
})
