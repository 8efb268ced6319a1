// Says, where the charts are empty while the picture plays, whose run that is and what fills them.
import { useStore } from 'zustand'
import { layersOf } from '../../document/links/shared_result.ts'
import { OPENING } from '../../document/presets/presets.ts'
import { lastRun } from '../../page/runs/library/last_run.ts'
import { type Library, libraryStore, shownRuns } from '../../page/runs/library/library_store.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { showRun } from '../open/opened_run.ts'
import { useIsAtRest } from '../replay/at_rest.ts'
import { calledName } from '../shown/names/called.ts'
import { selectHasRun, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'

/** A long page may have been scrolled down to the button. */
async function showWhole(id: string): Promise<void> {
  await showRun(id)
  scrollTo(0, 0)
}

const selectRuns = (library: Library) => shownRuns(library)

export function PlayedAbove() {
  const hasRun = usePresent(selectHasRun)
  const isAtRest = useIsAtRest()
  const lacksGpu = useLab(selectLacksGpu)
  const runs = useStore(libraryStore, selectRuns)
  const { result, experiment: of } = useStore(shareStore)
  if (hasRun || isAtRest) return null
  const newest = lastRun(runs)
  const playsSent = result !== undefined && layersOf(result, of.model.num_hidden_layers)
  // The card of the sender's result says all there is to say.
  if (playsSent && !lacksGpu && !newest) return null
  return (
    <p className="card no-run" data-testid="played-above">
      {lacksGpu ? (
        <span>
          Nothing can be trained here without a GPU. The settings can be read and shared: a link of
          them trains elsewhere.
        </span>
      ) : result ? null : (
        <span>
          There is no current run. Train draws the reward, the entropy of every layer and samples
          here.
        </span>
      )}{' '}
      {playsSent ? null : (
        <span>
          The picture above is of a recording of “{OPENING.name}”, made on another machine.
        </span>
      )}{' '}
      {newest ? (
        <button type="button" data-testid="show-newest" onClick={() => void showWhole(newest.id)}>
          Your last run, “{calledName(newest)}”: open it
        </button>
      ) : null}
    </p>
  )
}
