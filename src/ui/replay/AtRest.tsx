// Shows, before a first run, the recording that comes with the page in charts and figures, and says
// that it is one.
import './at_rest.css'
import { Film } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { adapterName, deviceName } from '../../document/links/names.ts'
import { recordedState, shippedRecording } from '../../page/connection/shipped_recording.ts'
import type { LabState } from '../../page/state/store.ts'
import { showPlayed } from '../open/scrub.ts'
import { useLab } from '../shown/run.ts'
import { viewStore } from '../shown/shown.ts'
import { useVisible } from '../shown/visible.ts'
import { useIsAtRest } from './at_rest.ts'

const selectHasGpu = ({ adapter }: LabState): boolean => adapter !== undefined

/** Once for all tabs. */
let recorded: LabState | undefined

/** Loads the recording when its place comes into view. */
function useRecorded() {
  const place = useRef<HTMLElement>(null)
  const isVisible = useVisible(place)
  const [state, setState] = useState(recorded)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (!isVisible || state) return
    let isHere = true
    shippedRecording().then(
      (recording) => {
        recorded ??= recordedState(recording)
        if (isHere) setState(recorded)
      },
      ({ message }: Error) => {
        if (isHere) setProblem(message)
      },
    )
    return () => {
      isHere = false
    }
  }, [isVisible, state])
  useEffect(() => {
    if (!state) return
    viewStore.setState({ recorded: state })
    return () => {
      // The step that was played is one of the recording.
      showPlayed(undefined)
      viewStore.setState({ recorded: undefined })
    }
  }, [state])
  return { place, state, problem }
}

export function AtRest() {
  return useIsAtRest() ? <Recorded /> : null
}

function Recorded() {
  const { place, state, problem } = useRecorded()
  const hasGpu = useLab(selectHasGpu)
  const words =
    state?.adapter &&
    `A recording of “${state.experiment.name}”, made on another machine, on ${deviceName(adapterName(state.adapter))}${hasGpu ? '; press Train to make your own' : ''}.`
  return (
    <section ref={place} className="card at-rest" aria-label="Recording" data-testid="at-rest">
      <Film className="icon" aria-hidden="true" />
      {problem ? <p role="alert">{problem}</p> : <p>{words ?? 'Loading a recorded run …'}</p>}
    </section>
  )
}
