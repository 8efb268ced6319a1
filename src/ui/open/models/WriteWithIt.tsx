// Opens the model of a run, to write with it and to look into it.
import { Pencil } from 'lucide-react'
import { useStore } from 'zustand'
import { replayStore } from '../../../page/state/replay.ts'
import type { LabState } from '../../../page/state/store.ts'
import { useLab } from '../../shown/run.ts'
import { openedStore, useOpenedEntry } from '../opened_run.ts'
import { selectIsReplaying } from '../replays.ts'

/** Loaded when it is asked for: few visitors write with a run. */
const open = async (record: string, step?: number) =>
  (await import('./run_model.ts')).writeWithRun(record, step)

interface WriteWithItProps {
  readonly record: string
  /** Without one the run as it is now, or was last. */
  readonly step?: number
}

export function WriteWithIt({ record, step }: WriteWithItProps) {
  return (
    <button
      type="button"
      data-testid="write-with"
      aria-haspopup="dialog"
      title="Opens this model: let it continue a text, read one with every layer, steer it"
      onClick={() => void open(record, step)}
    >
      <Pencil className="icon" aria-hidden="true" /> Write with it
    </button>
  )
}

/** Before its first step a run is the model that it began with. */
const selectRecord = ({ record, step }: LabState) => (step > 0 ? record : '')

/** Of the shown run. Nothing where that has no weights here: a recording, an imported log. */
export function WriteWithShown() {
  const isPast = useStore(openedStore, ({ opened }) => opened !== undefined)
  const entry = useOpenedEntry()
  const living = useLab(selectRecord)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  if (isPast && entry?.header.source) return null
  const record = isPast ? (entry?.id ?? '') : isReplaying ? '' : living
  return record === '' ? null : <WriteWithIt record={record} />
}
