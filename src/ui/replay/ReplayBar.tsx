// Says, beside the controls, which recording plays and how fast, and leads out of it.
import { Film } from 'lucide-react'
import { useStore } from 'zustand'
import { adapterName } from '../../document/links/names.ts'
import { type ReplayState, replayStore, SPEEDS } from '../../page/state/replay.ts'
import { locale } from '../kit/translator.ts'
import { leaveRecording } from '../open/replays.ts'

const selectRecording = (state: ReplayState) => state.recording
const selectSpeed = (state: ReplayState) => state.speed

/** 2026-11-21 as 21 November 2026. */
const dateWords = (date: string): string =>
  new Date(`${date}T00:00:00Z`).toLocaleDateString(locale(), { dateStyle: 'long', timeZone: 'UTC' })

export function ReplayBar() {
  const recording = useStore(replayStore, selectRecording)
  const speed = useStore(replayStore, selectSpeed)
  if (!recording) return null
  const name = adapterName(recording.adapter)
  return (
    <div className="replay-bar" data-testid="replay">
      <span
        className="badge warn replay-badge"
        title={`A real run, replayed. Nothing is trained now. Speeds and times are those of ${name}.`}
      >
        <Film className="icon" aria-hidden="true" />
        <span>Recorded on</span>
        <span className="replay-adapter">{name}</span>
        <span>{dateWords(recording.date)}</span>
      </span>
      <label>
        <span className="visually-hidden">Speed</span>
        <select
          data-testid="replay-speed"
          value={speed}
          onChange={(event) => {
            const chosen = SPEEDS.find((one) => one === Number(event.target.value))
            if (chosen) replayStore.setState({ speed: chosen })
          }}
        >
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
      </label>
      <button type="button" data-testid="leave-recording" onClick={leaveRecording}>
        Leave
      </button>
    </div>
  )
}
