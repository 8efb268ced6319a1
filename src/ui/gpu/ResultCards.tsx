// Draws results of the benchmark: this machine's own, and the one that a link brought.
import { Copy, Link } from 'lucide-react'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import { adapterName, browserName } from '../../document/links/names.ts'
import { cardLink, makeCard, type ResultCard } from '../../host/protocol/card.ts'
import { labPage } from '../../page/connection/connection.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatNumber, NONE } from '../kit/format.ts'
import { useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'
import { cardLines, cardText, peakOf } from './profile.ts'
import { REFERENCE_CARDS } from './reference_cards.ts'

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

/** Of each machine what was measured there. */
const COMPARED = [
  { label: 'multiply-adds, GFLOP/s', key: 'peak_gflops' },
  { label: 'copying, GB/s', key: 'peak_gbps' },
  { label: 'product of 256, GFLOP/s', key: 'matmul_256_gflops' },
  { label: 'product of 512, GFLOP/s', key: 'matmul_512_gflops' },
] as const

/** The card beside what this project measured on other machines. */
function Compared({ card }: { readonly card: ResultCard }) {
  const machines = [
    { machine: card.adapter, date: undefined, numbers: { ...card, peak_gflops: peakOf(card) } },
    ...REFERENCE_CARDS,
  ]
  return (
    <section className="compared-cards" data-testid="compared-cards">
      <h3>Beside other machines</h3>
      <div className="scroll">
        <table className="profile-table">
          <thead>
            <tr>
              <th scope="col">machine</th>
              {COMPARED.map(({ label, key }) => (
                <th key={key} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {machines.map(({ machine, date, numbers }) => (
              <tr key={`${machine} ${date}`}>
                <th scope="row">
                  {machine}
                  {date === undefined ? null : <small className="soft">{date}</small>}
                </th>
                {COMPARED.map(({ key }) => (
                  <td key={key}>{formatNumber(numbers[key] || undefined)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="soft">
        The others are medians of <code>npm run bench</code>, from <code>bench/results/</code>;{' '}
        {NONE} was not measured there. A product of 512 fills a GPU better than one of 256.
      </p>
    </section>
  )
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
function useOwnCard(): ResultCard | undefined {
  const result = useLab(selectBenchmark)
  const adapter = useLab(selectAdapter)
  return useMemo(
    () =>
      result.status === 'done' && adapter
        ? makeCard(adapterName(adapter), browserName(navigator.userAgent), result.numbers)
        : undefined,
    [result, adapter],
  )
}

/** Brings what a benchmark says into sight while it runs and when it is done; one that was done
 * before the tab was opened stays where it is. */
function useInSight(status: LabState['benchmark']['status']): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const before = useRef(status)
  useEffect(() => {
    if (status !== before.current) place.current?.scrollIntoView({ block: 'nearest' })
    before.current = status
  }, [status])
  return place
}

function OwnCard({ card }: { readonly card: ResultCard | undefined }) {
  const result = useLab(selectBenchmark)
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
  const card = useOwnCard()
  const place = useInSight(useLab(selectBenchmark).status)
  return (
    <>
      <div ref={place} className="result-cards">
        <OwnCard card={card} />
        <SharedCard />
      </div>
      {card ? <Compared card={card} /> : null}
    </>
  )
}
