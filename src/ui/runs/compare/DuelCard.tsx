// Draws the card of an A/B comparison: two runs in turns on one GPU, on the same charts.
import { Pause, Play, Square } from 'lucide-react'
import { useStore } from 'zustand'
import {
  type Duel,
  duelStore,
  endDuel,
  pauseDuel,
  resumeDuel,
} from '../../../page/runs/duel/duel.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatCount } from '../../kit/format.ts'
import { useLab } from '../../shown/run.ts'
import { DuelChooser } from './DuelChooser.tsx'

const selectSecond = ({ second }: Duel) => second
const selectFirstStep = (state: LabState) => state.step
const selectFirstStatus = (state: LabState) => state.status

const WORDS: Readonly<Record<string, string>> = {
  running: 'training',
  preparing: 'preparing',
  paused: 'paused',
  finished: 'finished',
  failed: 'failed',
}

/** Both runs while they train. */
function Running({ second }: { readonly second: LabState }) {
  const step = useLab(selectFirstStep)
  const status = useLab(selectFirstStatus)
  const isPaused = status === 'paused' || second.status === 'paused'
  const isOver = [status, second.status].every((one) => one === 'finished' || one === 'failed')
  return (
    <div className="duel-choice" data-testid="duel-going">
      <p>
        A (current run): {WORDS[status] ?? status}, step{' '}
        <span data-testid="duel-first-step">{formatCount(step)}</span>. B:{' '}
        {WORDS[second.status] ?? second.status}, step{' '}
        <span data-testid="duel-second-step">{formatCount(second.step)}</span>
        {second.status === 'preparing' && second.message ? ` (${second.message})` : ''}.
      </p>
      {second.error ? (
        <p role="alert" className="runs-note bad">
          B failed: {second.error.message}
        </p>
      ) : null}
      <button type="button" data-testid="duel-pause" onClick={isPaused ? resumeDuel : pauseDuel}>
        {isPaused ? (
          <Play className="icon" aria-hidden="true" />
        ) : (
          <Pause className="icon" aria-hidden="true" />
        )}
        {isPaused ? 'Continue both' : 'Pause both'}
      </button>
      <button
        type="button"
        data-testid="duel-end"
        title={isOver ? undefined : 'Ends B, which stays in the list; A continues alone'}
        onClick={endDuel}
      >
        <Square className="icon" aria-hidden="true" /> {isOver ? 'Done' : 'End B'}
      </button>
    </div>
  )
}

export function DuelCard({ entries }: { readonly entries: readonly RunEntry[] }) {
  const second = useStore(duelStore, selectSecond)
  return (
    <section className="card duel" aria-labelledby="duel-title" data-testid="duel">
      <h2 id="duel-title">A/B: two runs in turns</h2>
      <p className="soft">
        Trains these settings (A) and a second experiment (B) on one GPU, a step of one after a step
        of the other, from the same seed and on the same prompts. B is drawn on the same charts and
        kept as a run of its own.
      </p>
      {second ? <Running second={second} /> : <DuelChooser entries={entries} />}
    </section>
  )
}
