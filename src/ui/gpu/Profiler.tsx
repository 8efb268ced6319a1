// Where a step's time goes on this GPU, and how this GPU compares with others.
import { Copy, Gauge, Link, Timer } from 'lucide-react'
import { Fragment, useEffect, useMemo, useRef, useState } from 'react'
import { benchmark, profileStep } from '../../lab/page/client/controls.ts'
import { cardLink } from '../../lab/page/client/links.ts'
import type { StepProfile } from '../../lab/page/run_parts.ts'
import type { LabState } from '../../lab/page/store.ts'
import { adapterName, browserName, makeCard, type ResultCard } from '../../lab/protocol/card.ts'
import type { Peak, ProfileRow } from '../../lab/protocol/protocol.ts'
import { canProfile } from '../base/actions.ts'
import { formatCount, formatNumber, formatShare, NONE } from '../base/format.ts'
import { selectIsBusy, selectStatus, useLab } from '../base/run.ts'
import { showToast } from '../base/store.ts'
import { cardLines, cardText, clockNote, profileLine, STAGES } from './profile.ts'

const selectProfile = (state: LabState) => state.profile
const selectIsProfiling = (state: LabState) => state.is_profiling
const selectBenchmark = (state: LabState) => state.benchmark
const selectSharedCard = (state: LabState) => state.shared_card
const selectAdapter = (state: LabState) => state.adapter
const selectMatmul = (state: LabState) => state.matmul
const selectIsPinned = ({ run_experiment }: LabState) => !!run_experiment?.kernels
const selectIsPrepared = ({ status, run_experiment }: LabState) =>
  run_experiment !== undefined && status !== 'preparing' && status !== 'failed'

/** Kernels shown before "all" is asked for. */
const FIRST_KERNELS = 10

/** A name that a narrow column breaks at its underscores. */
const Name = ({ name }: { name: string }) =>
  name.split('_').map((part, i) => (
    <Fragment key={i}>
      {i > 0 ? '_' : ''}
      {i > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ))

function Table(props: {
  id: string
  title: string
  rows: readonly ProfileRow[]
  total_ms: number
  peak: Peak | undefined
  notes?: Readonly<Record<string, string>>
}) {
  const { id, title, rows, total_ms, peak, notes = {} } = props
  return (
    <table className="profile-table" data-testid={id}>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">ms</th>
          <th scope="col">share</th>
          <th scope="col" className="wide-only">
            calls
          </th>
          <th scope="col">GFLOP/s</th>
          <th scope="col" className="wide-only">
            GB/s
          </th>
          <th
            scope="col"
            title="Of what the probe of this adapter reached; more than all of it where a cache holds the data"
          >
            of peak
          </th>
        </tr>
      </thead>
      <tbody>
        {rows
          .map((row) => profileLine(row, total_ms, peak))
          .map(({ name, calls, time_ms, share, gflops, gbps, of_peak }) => (
            <tr key={name} data-name={name}>
              <th scope="row">
                <Name name={name} />
                {notes[name] ? <small className="soft wide-only">{notes[name]}</small> : null}
              </th>
              <td>{formatNumber(time_ms)}</td>
              <td className="share" style={{ backgroundSize: `${100 * (share ?? 0)}% 2px` }}>
                {formatShare(share)}
              </td>
              <td className="wide-only">{formatCount(calls)}</td>
              <td>{formatNumber(gflops)}</td>
              <td className="wide-only">{formatNumber(gbps)}</td>
              <td title={of_peak ? `of the adapter’s ${of_peak.limit} peak` : undefined}>
                {of_peak ? `${formatShare(of_peak.share)}` : NONE}
                {of_peak ? (
                  <small className="soft">{of_peak.limit === 'memory' ? 'mem' : 'f32'}</small>
                ) : null}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}

function Tables({ step, profile, peak }: StepProfile) {
  const [all, setAll] = useState(false)
  const { kernels, stages, time_ms, dispatches } = profile
  const shown = all ? kernels : kernels.slice(0, FIRST_KERNELS)
  const rates = { total_ms: time_ms, peak }
  return (
    <>
      <p data-testid="profile-summary">
        Step {step} took <b>{formatNumber(time_ms)} ms</b> of the GPU in {formatCount(dispatches)}{' '}
        calls of {kernels.length} kernels.{' '}
        {peak && peak.gflops > 0
          ? `The probe of this adapter reached ${formatNumber(peak.gflops)} GFLOP/s and ${formatNumber(peak.gbps)} GB/s. `
          : ''}
        <span className="soft">{clockNote(profile)}</span>
      </p>
      <div className="profile-tables">
        <Table id="profile-stages" title="stage" rows={stages} notes={STAGES} {...rates} />
        <div>
          <Table id="profile-kernels" title="kernel" rows={shown} {...rates} />
          {kernels.length > FIRST_KERNELS ? (
            <button type="button" className="plain profile-more" onClick={() => setAll(!all)}>
              {all ? 'Show fewer' : `Show all ${kernels.length} kernels`}
            </button>
          ) : null}
        </div>
      </div>
    </>
  )
}

/** What the run's matrix products run on: a part of what makes its bits. */
function Kernels() {
  const matmul = useLab(selectMatmul)
  const is_pinned = useLab(selectIsPinned)
  const is_prepared = useLab(selectIsPrepared)
  if (!matmul)
    return is_prepared ? (
      <p className="soft" data-testid="kernels">
        Matrix products run on the default kernels.
      </p>
    ) : null
  return (
    <details className="kernel-choice" data-testid="kernels">
      <summary>
        Matrix products run on kernels{' '}
        {is_pinned ? 'that the experiment pins' : 'tuned for this adapter'}
      </summary>
      <p className="soft">
        {is_pinned
          ? 'Nothing was measured; sizes that are not listed have their default, * stands for every other size.'
          : 'Measured once, for about a second, and remembered by this browser, so that the same experiment gives the same bits again; sizes that were not reached keep their default.'}{' '}
        Sizes are out [m, n], summed over k.
      </p>
      <dl>
        {Object.entries(matmul).map(([shape_class, variant]) => (
          <div key={shape_class}>
            <dt>
              <Name name={shape_class} />
            </dt>
            <dd>
              <Name name={variant} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

async function copy(text: string, done: string) {
  try {
    await navigator.clipboard.writeText(text)
    showToast(done)
  } catch {
    showToast('The browser keeps the clipboard closed.')
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
  const link = cardLink(card)
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

export function Profiler() {
  const profile = useLab(selectProfile)
  const is_profiling = useLab(selectIsProfiling)
  const can_profile = useLab(canProfile)
  const is_busy = useLab(selectIsBusy)
  const is_finished = useLab(selectStatus) === 'finished'
  const adapter = useLab(selectAdapter)
  const is_measuring = useLab(selectBenchmark).status === 'running'
  return (
    <section className="card profiler" aria-labelledby="profiler-title" data-testid="profiler">
      <div className="profiler-head">
        <h2 id="profiler-title">Profiler</h2>
        <div className="profiler-actions">
          <button
            type="button"
            data-testid="profile-step"
            disabled={!can_profile || is_profiling || is_measuring}
            onClick={profileStep}
          >
            <Timer className="icon" aria-hidden="true" />
            {is_profiling ? 'Measuring a step' : 'Profile the next step'}
          </button>
          <button
            type="button"
            data-testid="benchmark"
            disabled={is_busy || is_measuring || !adapter}
            title={
              is_busy ? 'Reset the run first: the benchmark wants the GPU to itself' : undefined
            }
            onClick={benchmark}
          >
            <Gauge className="icon" aria-hidden="true" /> Benchmark this GPU
          </button>
        </div>
      </div>
      {profile ? (
        <Tables {...profile} />
      ) : (
        <p className="soft">
          {is_finished
            ? 'The run is over: steps of the next one can be measured.'
            : is_busy
              ? 'Measures one step: the time of every stage and kernel on the GPU. Its numbers stay the same; other steps cost nothing more.'
              : 'Shows where a step spends its time on the GPU. Profile the next step begins a run, measures its first step and pauses.'}
        </p>
      )}
      <Kernels />
      <div className="result-cards">
        <OwnCard />
        <SharedCard />
      </div>
    </section>
  )
}
