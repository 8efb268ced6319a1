// Shows the time of one step, by stage and by kernel.
import { useState } from 'react'
import type { Peak, ProfileRow } from '../../host/protocol/results.ts'
import type { StepProfile } from '../../record/run/run_parts.ts'
import { formatCount, formatNumber, formatShare, NONE } from '../kit/format.ts'
import { STAGES } from '../learning/more/stages.ts'
import { peakWords, useAdapterPeak } from './adapter_peak.ts'
import { BreakableName } from './BreakableName.tsx'
import { clockNote, profileLine } from './profile.ts'

/** Kernels shown before "all" is asked for. */
const FIRST_KERNELS = 10

function Table(props: {
  id: string
  title: string
  rows: readonly ProfileRow[]
  totalMs: number
  peak: Peak | undefined
  notes?: Readonly<Record<string, string>>
}) {
  const { id, title, rows, totalMs, peak, notes = {} } = props
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
          <th scope="col" title="Share of the most that was measured on this adapter">
            of peak
          </th>
        </tr>
      </thead>
      <tbody>
        {rows
          .map((row) => profileLine(row, totalMs, peak))
          .map(({ name, calls, time_ms, share, gflops, gbps, ofPeak }) => (
            <tr key={name} data-name={name}>
              <th scope="row">
                <BreakableName name={name} />
                {notes[name] ? <small className="soft wide-only">{notes[name]}</small> : null}
              </th>
              <td>{formatNumber(time_ms)}</td>
              <td className="share" style={{ backgroundSize: `${100 * (share ?? 0)}% 2px` }}>
                {formatShare(share)}
              </td>
              <td className="wide-only">{formatCount(calls)}</td>
              <td>{formatNumber(gflops)}</td>
              <td className="wide-only">{formatNumber(gbps)}</td>
              <td title={ofPeak ? `of the adapter’s ${ofPeak.limit} peak` : undefined}>
                {ofPeak ? `${formatShare(ofPeak.share)}` : NONE}
                {ofPeak ? (
                  <small className="soft">{ofPeak.limit === 'memory' ? 'mem' : 'f32'}</small>
                ) : null}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}

export function ProfileTables({ step, profile }: Pick<StepProfile, 'step' | 'profile'>) {
  const [all, setAll] = useState(false)
  const { kernels, stages, time_ms, dispatches } = profile
  const shown = all ? kernels : kernels.slice(0, FIRST_KERNELS)
  const most = useAdapterPeak()
  const peak = most && { gflops: most.gflops.value, gbps: most.gbps.value }
  const rates = { totalMs: time_ms, peak }
  return (
    <>
      <p data-testid="profile-summary">
        Step {step} took <b>{formatNumber(time_ms)} ms</b> of the GPU in {formatCount(dispatches)}{' '}
        calls of {kernels.length} kernels, those of open figures and a validation included.{' '}
        {most ? `${peakWords(most)} ` : ''}
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
