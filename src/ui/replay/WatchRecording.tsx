// Offers the recorded run to watch.
import { Film } from 'lucide-react'
import { useStore } from 'zustand'
import { OPENING } from '../../document/presets/presets.ts'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { loadingStore, selectIsReplaying, watchRecording } from '../open/replays.ts'
import { useLab } from '../shown/run.ts'

/** The recorded run is of the opening preset, whichever is chosen. */
const selectIsOfAnother = ({ preset_id }: LabState) => preset_id !== OPENING.id

/** The way to a recorded run, for those who cannot or need not train. Beside the way to train, the
 * picture plays the same run already. */
export function WatchRecording({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isOfAnother = useLab(selectIsOfAnother)
  const { isLoading, problem } = useStore(loadingStore)
  if (isReplaying) return null
  return (
    <p className="watch">
      <button
        type="button"
        data-testid="watch-recording"
        className={isPrimary ? 'primary' : undefined}
        disabled={isLoading}
        title="A real run of another machine, played here in a minute. It needs no GPU."
        onClick={watchRecording}
      >
        <Film className="icon" aria-hidden="true" />{' '}
        {isOfAnother
          ? 'Watch the first run'
          : isPrimary
            ? 'Watch a recorded run'
            : 'Follow the recorded run step by step'}
      </button>
      {problem === '' ? null : <span role="alert">{problem}</span>}
    </p>
  )
}
