// Offers at the top of the page to continue the run that was left, or one from a file.
import { FileInput, Play } from 'lucide-react'
import { useStore } from 'zustand'
import { type Library, libraryStore } from '../../../page/runs/library/library_store.ts'
import { replayStore } from '../../../page/state/replay.ts'
import { type ShareState, shareStore } from '../../../page/state/share_store.ts'
import type { LabState } from '../../../page/state/store.ts'
import { CutName } from '../../kit/CutName.tsx'
import { formatBytes, formatCount } from '../../kit/format.ts'
import { showRun } from '../../open/opened_run.ts'
import { selectIsReplaying } from '../../open/replays.ts'
import { calledName } from '../../shown/names/called.ts'
import { useLab } from '../../shown/run.ts'
import { plannedOf } from '../../shown/run_words.ts'
import { continueFromFile, continueRun, declineFile, leaveIt } from './continue_run.ts'
import { type Left, type Offered, offersStore } from './offers.ts'
import { agoText } from './texts.ts'

const selectLeft = ({ left }: { readonly left: Left | undefined }) => left
const selectOffered = ({ offered }: { readonly offered: Offered | undefined }) => offered
const selectEntries = ({ entries }: Library) => entries
/** A page that shows one experiment to others speaks of nothing else. */
const selectIsAlone = ({ options }: ShareState) =>
  options.embed || options.lock.includes('experiment')
const selectHasRun = ({ record }: LabState) => record !== ''

function LeftRun() {
  const left = useStore(offersStore, selectLeft)
  const entries = useStore(libraryStore, selectEntries)
  const hasRun = useLab(selectHasRun)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isAlone = useStore(shareStore, selectIsAlone)
  const entry = entries.find(({ id }) => id === left?.id)
  if (!left || !entry || hasRun || isReplaying || isAlone) return null
  const name = calledName(entry)
  const { step } = entry.header
  return (
    <section className="card going-on" aria-label="Unfinished run" data-testid="left-run">
      <p>
        <strong>
          <CutName name={`“${name}”`} />
        </strong>{' '}
        stopped at step {formatCount(step)} of {formatCount(plannedOf(entry.header))},{' '}
        {agoText(left.at, Date.now())}.
        {left.step < step ? (
          <span className="soft">
            {' '}
            It is kept up to step {formatCount(left.step)}; the steps after it are repeated, with
            the same numbers.
          </span>
        ) : null}
      </p>
      <div className="going-on-ways">
        <button
          type="button"
          className="primary"
          data-testid="go-on"
          onClick={() => void continueRun('resume', entry, left.step)}
        >
          <Play className="icon" aria-hidden="true" /> Continue
        </button>
        <button type="button" data-testid="look-at-left" onClick={() => void showRun(left.id)}>
          Show it
        </button>
        <button type="button" data-testid="leave-it" onClick={leaveIt}>
          Not now
        </button>
      </div>
    </section>
  )
}

function OfferedFile() {
  const offered = useStore(offersStore, selectOffered)
  if (!offered) return null
  const { file, peeked } = offered
  return (
    <section className="card going-on" aria-label="Checkpoint file" data-testid="offered-file">
      <p role="status">
        <FileInput className="icon" aria-hidden="true" /> <strong>{file.name}</strong> is a
        checkpoint of <CutName name={`“${peeked.name}”`} />: step {formatCount(peeked.step)} of{' '}
        {formatCount(peeked.planned)}, {formatBytes(peeked.bytes)}.
      </p>
      <div className="going-on-ways">
        <button
          type="button"
          className="primary"
          data-testid="go-on-file"
          onClick={() => void continueFromFile()}
        >
          <Play className="icon" aria-hidden="true" /> Continue from it as a new run
        </button>
        <button type="button" data-testid="decline-file" onClick={declineFile}>
          Not now
        </button>
      </div>
    </section>
  )
}

export function ContinueOffers() {
  return (
    <>
      <LeftRun />
      <OfferedFile />
    </>
  )
}
