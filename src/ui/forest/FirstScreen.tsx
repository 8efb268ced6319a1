// Shows the first screen of the page: the picture, one sentence and one button. While there is a
// run, the picture alone.
import { Play } from 'lucide-react'
import { useStore } from 'zustand'
import { train } from '../../page/client/controls.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { useEstimate } from '../learning/more/estimate.ts'
import { canToggle } from '../open/actions.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { WatchRecording } from '../replay/WatchRecording.tsx'
import { selectHasRun, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import { selectIsUnchosen } from '../shown/unchosen.ts'
import { SENTENCE, SENTENCE_WITHOUT_GPU } from './sentence.ts'
import './forest.css'

const Forest = lazyPart(async () => (await import('./Forest.tsx')).Forest, {
  name: 'The picture',
  fallback: null,
  className: 'forest-missing',
})

/** The same sentence where the browser gives no GPU; until it comes the way in keeps its place. */
const WithoutGpu = lazyPart(async () => (await import('./WithoutGpu.tsx')).WithoutGpu, {
  name: 'What to do without a GPU',
  fallback: <Opening />,
  className: 'failure card',
})

/** In place of the sentence, on the page that a link with a result opens. */
const Sent = lazyPart(async () => (await import('../share/Sent.tsx')).Sent, {
  name: 'What the sender got',
  fallback: null,
})

const selectExperiment = ({ experiment }: LabState) => experiment

/** What the button trains, and how long that takes as far as it was measured here. */
function Estimate({ isWrong }: { readonly isWrong: boolean }) {
  const isUnchosen = useLab(selectIsUnchosen)
  const chosen = useLab(selectExperiment)
  const time = useEstimate(chosen)
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  return (
    <p className="soft" data-testid="estimate">
      {isUnchosen
        ? 'Three small layers learn to sort digits: 990 becomes 099. '
        : 'It trains the experiment above. '}
      {isWrong
        ? 'Nothing is trained until every setting is right. '
        : trainsStudy
          ? 'A study is training: both would share the GPU and be slower. '
          : time === undefined
            ? 'How long it takes here is not known yet: its first seconds will tell. '
            : `Its steps take ${time.words}, ${time.isMeasured ? 'as measured here before' : 'estimated from a probe of this adapter'}. `}
      Nothing leaves this browser.
    </p>
  )
}

const selectHasGpu = ({ adapter }: LabState) => adapter !== undefined

/** The way in, and one for those who want to look first. */
function Opening() {
  const hasGpu = useLab(selectHasGpu)
  const canTrain = useLab(canToggle)
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  return (
    <>
      <div className="forest-ways">
        <button
          type="button"
          className={trainsStudy ? undefined : 'primary'}
          data-testid="train-here"
          disabled={!canTrain || !hasGpu}
          onClick={() => train()}
        >
          <Play className="icon" aria-hidden="true" /> Train on this machine
        </button>
        <WatchRecording />
      </div>
      <Estimate isWrong={hasGpu && !canTrain} />
    </>
  )
}

const selectIsSent = ({ result }: ShareState) => result !== undefined
const selectIsAside = ({ tab }: UiState) => tab !== 'learn'

export function FirstScreen() {
  const hasRun = usePresent(selectHasRun)
  const lacksGpu = useLab(selectLacksGpu)
  // Beside another tab the picture is a strip, the same on all of them: the bar of tabs stays.
  const isAside = useStore(uiStore, selectIsAside)
  const isSent = useStore(shareStore, selectIsSent)
  return (
    <section
      className={`card forest${hasRun ? ' has-run' : ''}${isAside ? ' aside' : ''}`}
      aria-label="The model as a forest"
    >
      <Forest />
      {hasRun ? null : (
        <div className={lacksGpu ? 'forest-says lacks-gpu' : 'forest-says'}>
          <p>{lacksGpu ? SENTENCE_WITHOUT_GPU : isSent ? <Sent /> : SENTENCE}</p>
          {lacksGpu ? <WithoutGpu /> : <Opening />}
        </div>
      )}
    </section>
  )
}
