// Draws results of the benchmark: this machine's own, and the one that a link brought.
import { Copy, Link } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { adapterName, browserName } from '../../document/links/names.ts'
import { cardLink, makeCard, type ResultCard } from '../../host/protocol/card.ts'
import { labPage } from '../../page/connection/connection.ts'
import type { LabState } from '../../page/state/store.ts'
import { useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'
import { cardLines, cardText } from './profile.ts'

const selectBenchmark = (state: LabState) => state.benchmark
const selectSharedCard = (state: LabState) => state.sharedCard
const selectAdapter = (state: LabState) => state.adapter

async function copy(text: string, done: string) {
  try {
    await navigator.clipboard.writeText(text)
    showToast(done)
  } catch {
    showToast('The browser does not allow copying.')
  }
}

function Card({ card, title, id }: { card: ResultCard; title: string; id: string }) {
  return (
    <section className="result-card" aria-label={title} data-testid={id}>
      <h3>{title}</h3>
      <dl>
        {cardLines(card).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** This machine's own result, once there is one. */
function OwnCard() {
  const result = useLab(selectBenchmark)
  const adapter = useLab(selectAdapter)
  const card = useMemo(
    () =>
      result.status === 'done' && adapter
        ? makeCard(adapterName(adapter), browserName(navigator.userAgent), result.numbers)
        : undefined,
    [result, adapter],
  )
  if (result.status === 'running')
    return (
      <p className="status" role="status" data-testid="benchmark-status">
        <span className="dot preparing" aria-hidden="true" /> {result.message}
      </p>
    )
  if (result.status === 'failed')
    return (
      <p role="alert" data-testid="benchmark-status">
        The benchmark stopped: {result.error.message}
      </p>
    )
  if (!card) return null
  const link = cardLink(card, labPage().address)
  return (
    <div>
      <Card card={card} title={`${card.adapter}, ${card.browser}`} id="result-card" />
      <div className="profiler-actions">
        <button
          type="button"
          data-testid="copy-card"
          onClick={() => copy(cardText(card, link), 'Result copied as text.')}
        >
          <Copy className="icon" aria-hidden="true" /> Copy as text
        </button>
        <button
          type="button"
          data-testid="copy-card-link"
          onClick={() => copy(link, 'Link copied: it shows this result.')}
        >
          <Link className="icon" aria-hidden="true" /> Copy link
        </button>
      </div>
    </div>
  )
}

/** The result that a link brought. */
function SharedCard() {
  const card = useLab(selectSharedCard)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (card) place.current?.scrollIntoView({ block: 'center' })
  }, [card])
  if (!card) return null
  return (
    <div ref={place}>
      <Card
        card={card}
        title={`Measured on ${card.adapter}, ${card.browser}, by someone else`}
        id="shared-card"
      />
    </div>
  )
}

export function ResultCards() {
  return (
    <div className="result-cards">
      <OwnCard />
      <SharedCard />
    </div>
  )
}
